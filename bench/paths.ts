/** Paths of the benchmark, which runs compiled, from `dist/bench`. */
import { join, resolve } from 'node:path';

/** The checkout. */
export const ROOT = resolve(__dirname, '../..');

/** The benchmark's sources, and what belongs to them. */
export const BENCH = join(ROOT, 'bench');

/** The folder that it writes results to. */
export const RESULTS = join(BENCH, 'results');
