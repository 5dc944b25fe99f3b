/** `npm run soak`: compiles, and loads an application while everything around it fails. */
import { compile } from './compile.mjs';
import { runScript } from './step.mjs';

export async function soak(args) {
  await compile();
  await runScript('dist/test/soak/main.js', args);
}
