/** `npm run tracers`: installs Sentry's SDK in a package of its own, and traces an application with each tracer. */
import path from 'node:path';
import { compile } from './compile.mjs';
import { installPackages } from './set-up.mjs';
import { programs, root, runScript } from './step.mjs';

const SENTRY = path.join(root, 'test/process/tracers/sentry');

export async function tracers(args) {
  await compile();
  await installPackages('Sentry', SENTRY);
  const env = { CRUD_TEST_SENTRY: 'yes' };
  await runScript(programs.mocha, ['dist/test/process/be-traced.test.js', ...args], { env });
}
