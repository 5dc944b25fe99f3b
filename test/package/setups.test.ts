/** One setup of docs/setups.md, as far as it needs no installation, and its bundle; `npm run setups` has all of them. */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import { forSuite } from '../support/for-suite.js';
import { type ListeningProgram, startProgram } from '../support/listening-program.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { freshDatabase } from '../support/postgres.js';
import { answersAsWritten, consoleExamples, readmeBlocks, runCurl } from '../support/readme-examples.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { createProject, pack } from './packed-package.js';
import { run } from './run.js';

const REQUESTS = readmeBlocks('run against the program of each setup by npm run setups', 'docs/setups.md');
/** What routing-controllers and Sequelize load where they are used with Koa and HSTORE. */
const NOT_INSTALLED = ['@koa/cors', 'pg-hstore', 'pg-native'];

describe('the setup with tsc and ES modules', () => {
  after(async () => {
    await program.end();
    await bundled.end();
  });

  const folder = forSuite(() => createTemporaryFolder('setup'));
  const empty = forSuite(() => createTemporaryFolder('bundle'));
  const database = forSuite(() => freshDatabase());
  const another = forSuite(() => freshDatabase());
  let program: ListeningProgram;
  let bundled: ListeningProgram;

  before(async () => {
    await createProject(folder.path, await pack());
    cpSync(join(PACKAGE_ROOT, 'test/setups/program'), folder.path, { recursive: true });
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await run(process.execPath, [join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc')], folder.path);
    const main = join(folder.path, 'dist/main.js');
    program = await startProgram(main, database.url);
    const outfile = join(empty.path, 'main.js');
    const format = { bundle: true, platform: 'node', minify: true, keepNames: true } as const;
    await build({ ...format, entryPoints: [main], outfile, external: NOT_INSTALLED, logLevel: 'error' });
    bundled = await startProgram(outfile, another.url);
  });

  for (const { command, output } of REQUESTS.flatMap(consoleExamples)) {
    it(`answers as written to ${command}`, async () => {
      for (const { base } of [program, bundled]) {
        const answer = await runCurl(command, base);
        expect(answersAsWritten(answer, output), answer).to.equal(true);
      }
    });
  }

  it('has the same document and page in a bundle that is alone in a folder', async () => {
    for (const path of ['/openapi.json', '/docs', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css']) {
      const [own, other] = await Promise.all([program, bundled].map(({ base }) => fetch(`${base}${path}`)));
      expect(other?.status, path).to.equal(200);
      expect(await other?.text(), path).to.equal(await own?.text());
    }
  });
});
