/** `npm run existing`: compiles, and drives the models of schemas that others have made; see test/README.md. */
import { compile } from './compile.mjs';
import { runScript } from './step.mjs';

export async function existing(args) {
  await compile();
  await runScript('dist/test/existing/main.js', args);
}
