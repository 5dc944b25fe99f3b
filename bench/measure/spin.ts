/** A thread that measures its own speed: the number of equal loops in a millisecond. */
import { parentPort } from 'node:worker_threads';

/** Milliseconds of one try: less than a time slice of the kernel. */
const TRY = 8;
/** Tries of a reading. The best counts, because an interrupt in one of them is no slow processor. */
const TRIES = 3;
const STEPS = 2_000;

/** Small enough for the second-level cache of any processor. */
const bytes = Buffer.alloc(1 << 16);

function spin(): number {
  const begin = performance.now();
  let now = begin;
  let rounds = 0;
  for (; now - begin < TRY; now = performance.now()) {
    for (let step = 0; step < STEPS; step += 1) {
      const at = (step * 31) % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ step;
    }
    rounds += 1;
  }
  return rounds / (now - begin);
}

parentPort?.on('message', () => {
  parentPort?.postMessage(Math.max(...Array.from({ length: TRIES }, spin)));
});
