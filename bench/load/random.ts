/** Pseudorandom numbers, the same in every run, so that all contenders get the same requests. */

/** The next number, from 0 to below 1. */
export type Random = () => number;

/** Mulberry32: small, and good enough for choosing rows. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number, both ends included. */
export function randomInteger(random: Random, lowest: number, highest: number): number {
  return lowest + Math.floor(random() * (highest - lowest + 1));
}
