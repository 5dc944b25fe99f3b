/** `npm start`: compiles, and runs the sample atlas until it is stopped. */
import { programs, runScript } from './step.mjs';

export async function start() {
  await runScript(programs.tsc);
  await runScript('dist/sample/atlas/main.js');
}
