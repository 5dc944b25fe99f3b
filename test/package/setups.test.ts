/** One setup of docs/setups.md, as far as it needs no installation; `npm run setups` has all of them. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ListeningProgram, startProgram } from '../support/listening-program.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { answersAsWritten, consoleExamples, readmeBlocks, runCurl } from '../support/readme-examples.js';
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';
import { createProject, pack } from './packed-package.js';
import { run } from './run.js';

const REQUESTS = readmeBlocks('run against the program of each setup by npm run setups', 'docs/setups.md');

describe('the setup with tsc and ES modules', () => {
  let folder: TemporaryFolder;
  let database: TestDatabase;
  let program: ListeningProgram;

  before(async () => {
    folder = await createTemporaryFolder('setup');
    await createProject(folder.path, await pack());
    cpSync(join(PACKAGE_ROOT, 'test/setups/program'), folder.path, { recursive: true });
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await run(process.execPath, [join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc')], folder.path);
    database = await freshDatabase();
    program = await startProgram(join(folder.path, 'dist/main.js'), database.url);
  });

  after(async () => {
    await program.stop();
    await database.drop();
    folder.remove();
  });

  for (const { command, output } of REQUESTS.flatMap(consoleExamples)) {
    it(`answers as written to ${command}`, async () => {
      const answer = await runCurl(command, program.base);
      expect(answersAsWritten(answer, output), answer).to.equal(true);
    });
  }
});
