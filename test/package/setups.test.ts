/** One setup of docs/setups.md, as far as it needs no installation; `npm run setups` has all of them. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { forSuite } from '../support/for-suite.js';
import { type ListeningProgram, startProgram } from '../support/listening-program.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { freshDatabase } from '../support/postgres.js';
import { answersAsWritten, consoleExamples, readmeBlocks, runCurl } from '../support/readme-examples.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { createProject, pack } from './packed-package.js';
import { run } from './run.js';

const REQUESTS = readmeBlocks('run against the program of each setup by npm run setups', 'docs/setups.md');

describe('the setup with tsc and ES modules', () => {
  after(() => program.end());

  const folder = forSuite(() => createTemporaryFolder('setup'));
  const database = forSuite(() => freshDatabase());
  let program: ListeningProgram;

  before(async () => {
    await createProject(folder.path, await pack());
    cpSync(join(PACKAGE_ROOT, 'test/setups/program'), folder.path, { recursive: true });
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await run(process.execPath, [join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc')], folder.path);
    program = await startProgram(join(folder.path, 'dist/main.js'), database.url);
  });

  for (const { command, output } of REQUESTS.flatMap(consoleExamples)) {
    it(`answers as written to ${command}`, async () => {
      const answer = await runCurl(command, program.base);
      expect(answersAsWritten(answer, output), answer).to.equal(true);
    });
  }
});
