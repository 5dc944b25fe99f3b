/**
 * `npm run admin`: builds the back office of the sample atlas, and starts the atlas, which serves it. With `--build` it only
 * builds, and with `--test` it tests the back office in Chromium. Its packages are apart from those of the library.
 */
import path from 'node:path';
import { bundleAdmin } from './bundle-admin.mjs';
import { compile } from './compile.mjs';
import { mocha, noCounts, printFailures } from './mocha.mjs';
import { installPackages } from './set-up.mjs';
import { start } from './start.mjs';
import { programs, root, runScript, StepFailed, step } from './step.mjs';

const SOURCE = path.join(root, 'sample/admin');

export async function admin(args) {
  const [option, ...others] = args;
  if (others.length > 0 || ![undefined, '--build', '--test'].includes(option))
    throw new StepFailed('Usage: npm run admin [-- --build | --test]');
  await installPackages('the back office', SOURCE);
  await step('Check the types of the back office', () => runScript(programs.tsc, ['-p', SOURCE]));
  const pages = option === '--test' ? ['main.tsx', 'order-lines.tsx'] : ['main.tsx'];
  await step('Bundle the back office', () =>
    bundleAdmin(SOURCE, path.join(root, 'dist/sample/admin'), pages),
  );
  if (option === '--test') await testInBrowser();
  else if (option !== '--build') await start();
}

async function testInBrowser() {
  await step('Compile', compile);
  const counts = noCounts();
  try {
    await step('Test', () => mocha(counts, ['dist/test/admin/**/*.test.js']));
  } finally {
    printFailures(counts);
  }
}
