/** What the README and the guide show, done: their applications are compiled and run, and their commands are sent. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFreePort } from '../../sample/support/free-port.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { answersAsWritten, consoleExamples, readmeBlocks, runCurl } from '../support/readme-examples.js';

const suite = process.env.CRUD_TEST_EXPRESS === '4' ? describe.skip : describe;

/** Pages with a whole application, by the name of its program. */
const PAGES = {
  readme: 'README.md',
  access: 'docs/access.md',
  relations: 'docs/relations.md',
  writes: 'docs/writes.md',
  operations: 'docs/operations.md',
} as const;

suite('the applications in the documentation', () => {
  // Inside the repository, so that the package finds itself by its name.
  const folder = join(PACKAGE_ROOT, 'dist', `readme-${process.pid}`);

  before(() => {
    mkdirSync(folder, { recursive: true });
    for (const [name, page] of Object.entries(PAGES)) {
      const [program = ''] = readmeBlocks('compiled and run by test/feature/readme.test.ts', page);
      writeFileSync(join(folder, `${name}.ts`), program);
      readmeBlocks('compiled by test/feature/readme.test.ts', page).forEach((example, index) => {
        writeFileSync(join(folder, `${name}-${index}.ts`), example);
      });
    }
    const config = {
      extends: join(PACKAGE_ROOT, 'tsconfig.json'),
      compilerOptions: {
        rootDir: '.',
        outDir: 'out',
        incremental: false,
        tsBuildInfoFile: null,
        declaration: false,
      },
      include: ['*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'pipe', encoding: 'utf8' });
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, page] of Object.entries(PAGES)) {
    describe(`that of ${page}`, () => {
      let database: TestDatabase;
      let application: ChildProcess;
      let base: string;

      before(async () => {
        database = await freshDatabase();
        const port = await findFreePort();
        base = `http://localhost:${port}`;
        application = spawn(process.execPath, [join(folder, 'out', `${name}.js`)], {
          env: { ...process.env, DATABASE_URL: database.url, PORT: String(port) },
          stdio: 'inherit',
        });
        await untilListening(base);
      });

      after(async () => {
        application.kill();
        await once(application, 'close');
        await database.drop();
      });

      it('has a test for each of its commands', () => {
        const text = readFileSync(join(PACKAGE_ROOT, page), 'utf8');
        const tested = text.match(/^<!-- (run against|printed by) .* -->\n\n```console$/gm);
        expect(tested?.length).to.equal(text.match(/^```console$/gm)?.length);
      });

      for (const { command, output } of readmeBlocks('run against the application above', page).flatMap(
        consoleExamples,
      )) {
        it(`answers as written to ${command}`, async () => {
          const answer = await runCurl(command, base);
          expect(answersAsWritten(answer, output), answer).to.equal(true);
        });
      }
    });
  }
});

async function untilListening(base: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${base}/`).catch(() => null);
    if (answer) return;
  }
}
