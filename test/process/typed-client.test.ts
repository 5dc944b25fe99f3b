/** The types of the sample client are those of the atlas as it is now. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { run } from '../package/run.js';
import { COMPILED_SOURCE, PACKAGE_ROOT } from '../support/package-root.js';

const CLIENT = join(PACKAGE_ROOT, 'sample/typed-client');
/** By the name of the workspace: where node_modules is shared, so is the generator. */
const GENERATOR = join(
  PACKAGE_ROOT,
  'node_modules/crud-controllers-typed-client/node_modules/openapi-typescript/bin/cli.js',
);
const ATLAS = join(PACKAGE_ROOT, 'dist/sample/atlas/resources.js');

describe('the types of the sample client', () => {
  it('are what is generated from the document of the atlas; if not: npm run generate -w sample/typed-client', async () => {
    const command = join(COMPILED_SOURCE, 'command-line.js');
    const { output: document } = await run(process.execPath, [command, 'openapi', ATLAS], PACKAGE_ROOT);
    expect(await generate(document)).to.equal(await readFile(join(CLIENT, 'atlas-api.d.ts'), 'utf8'));
  });
});

/** Types that openapi-typescript generates from a document. */
async function generate(document: string): Promise<string> {
  const generator = execFile(process.execPath, [GENERATOR], { maxBuffer: 16 * 1024 * 1024 });
  let types = '';
  generator.stdout?.on('data', (chunk: string) => {
    types += chunk;
  });
  generator.stdin?.end(document);
  const [exitCode] = await once(generator, 'close');
  expect(exitCode).to.equal(0);
  return types;
}
