/** `npm run admin`: builds the back office of the sample atlas, and starts the atlas, which serves it; with `--build` it only builds. Its packages are apart from those of the library. */
import path from 'node:path';
import { bundleAdmin } from './bundle-admin.mjs';
import { installPackages } from './set-up.mjs';
import { start } from './start.mjs';
import { programs, root, runScript, step } from './step.mjs';

const SOURCE = path.join(root, 'sample/admin');

export async function admin(args) {
  await installPackages('the back office', SOURCE);
  await step('Check the types of the back office', () => runScript(programs.tsc, ['-p', SOURCE]));
  await step('Bundle the back office', () => bundleAdmin(SOURCE, path.join(root, 'dist/sample/admin')));
  if (!args.includes('--build')) await start();
}
