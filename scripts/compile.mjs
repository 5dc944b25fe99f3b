/** Compiles everything, as `npm run build` does. */
import os from 'node:os';
import { programs, runScript } from './step.mjs';

/** The compiler is a Go program that ends soon: collecting its garbage takes a third of its time, and frees little memory. */
export const NO_COLLECTION = { GOGC: 'off' };

export async function compile() {
  // Four by default. Each checker computes shared types again.
  const checkers = Math.min(4, os.availableParallelism());
  await runScript(programs.tsc, ['--checkers', String(checkers)], { env: NO_COLLECTION });
  await runScript('scripts/copy-swagger-ui.mjs');
}
