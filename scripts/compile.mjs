/** Compiles everything, as `npm run build` does. */
import os from 'node:os';
import { programs, runScript } from './step.mjs';

/** The compiler is a Go program that ends soon: collecting its garbage takes a third of its time, and gives little memory back. */
export const NO_COLLECTION = { GOGC: 'off' };

export async function compile() {
  // It has four by default, and each looks for itself at the types that several need.
  const checkers = Math.min(4, os.availableParallelism());
  await runScript(programs.tsc, ['--checkers', String(checkers)], { env: NO_COLLECTION });
  await runScript('scripts/copy-swagger-ui.mjs');
}
