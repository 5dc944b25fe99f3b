/** A thread that tells how fast it is allowed to be: how often it does the same in a millisecond. */
import { parentPort } from 'node:worker_threads';

/** Milliseconds of one try: less than a time slice of the kernel. */
const TRY = 8;
/** The best counts; what interrupts one of them for a moment is no slow processor. */
const TRIES = 3;
const STEPS = 2_000;

/** As large as what a processor's second level of memory holds for sure. */
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
