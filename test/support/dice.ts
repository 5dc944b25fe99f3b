/** Random numbers that a seed repeats (mulberry32). */
export function dice(seed: number) {
  let state = seed;
  const roll = (sides: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
  return {
    roll,
    /** Once in so many times. */
    once: (times: number) => roll(times) === 0,
    pick: <T>(list: readonly T[]): T => list[roll(list.length)] as T,
    /** Some of a list, in its order. */
    some: <T>(list: readonly T[], least: number, most: number): T[] => {
      const places = [...list.keys()];
      const count = Math.min(list.length, least + roll(most - least + 1));
      while (places.length > count) places.splice(roll(places.length), 1);
      return places.map((place) => list[place] as T);
    },
  };
}

export type Dice = ReturnType<typeof dice>;
