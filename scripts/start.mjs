/** `npm start`: compiles, and runs the sample atlas until it is stopped. */
import { compile } from './compile.mjs';
import { runScript } from './step.mjs';

export async function start() {
  await compile();
  await runScript('dist/sample/atlas/main.js');
}
