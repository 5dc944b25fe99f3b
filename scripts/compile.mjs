/** Compiles everything, as `npm run build` does. */
import { programs, runScript } from './step.mjs';

export async function compile() {
  await runScript(programs.tsc);
  await runScript('scripts/copy-swagger-ui.mjs');
}
