/** `npm run soak`: compiles, and loads an application while everything around it fails. */
import { programs, runScript } from './step.mjs';

export async function soak(args) {
  await runScript(programs.tsc);
  await runScript('dist/test/soak/main.js', args);
}
