/** One setup of docs/setups.md, as far as it needs no installation, and its bundle; `npm run setups` has all of them. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type BuildOptions, build } from 'esbuild';
import { forSuite } from '../support/for-suite.js';
import { type ListeningProgram, startProgram } from '../support/listening-program.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { freshDatabase } from '../support/postgres.js';
import { answersAsWritten, consoleExamples, readmeBlocks, runCurl } from '../support/readme-examples.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import { createProject, pack } from './packed-package.js';
import { run, tryRun } from './run.js';

const REQUESTS = readmeBlocks('run against the program of each setup by npm run setups', 'docs/setups.md');
/** Packages that routing-controllers and Sequelize name, and load where they are used. */
const NOT_INSTALLED = ['cors', '@koa/cors', 'pg-hstore'];

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
    program = await startProgram(join(folder.path, 'dist/main.js'), database.url);
    bundled = await startProgram(await bundle({ keepNames: true }), another.url);
  });

  /** A minified bundle in a folder that has nothing else. */
  async function bundle(options: BuildOptions): Promise<string> {
    const outfile = join(empty.path, 'main.js');
    const entryPoints = [join(folder.path, 'dist/main.js')];
    const format = { bundle: true, platform: 'node', minify: true, external: NOT_INSTALLED } as const;
    await build({ ...format, entryPoints, outfile, logLevel: 'error', ...options });
    return outfile;
  }

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

  it('refuses names that a minifier has made, and has those that are written', async () => {
    const replace = (file: string, text: string, other: string): void => {
      const path = join(folder.path, 'dist', file);
      writeFileSync(path, readFileSync(path, 'utf8').replace(text, other));
    };
    const refusal = async () => {
      const env = { DATABASE_URL: another.url };
      const { code, everything } = await tryRun(process.execPath, [await bundle({})], empty.path, env);
      return `${code} ${everything}`;
    };
    expect(await refusal()).to.match(
      /^1 .*The name of the model '\w+' is one that a minifier makes, .* keep the names \(--keep-names of esbuild/s,
    );
    replace('note.js', 'tableName:', "modelName: 'Note', tableName:");
    expect(await refusal()).to.match(
      /^1 .*The name of the class '\w+' is one that a minifier makes, and the document has it; /s,
    );
    replace('note-controller.js', 'class Rating {', "class Rating { static name = 'Rating';");
    await bundled.end();
    bundled = await startProgram(await bundle({}), another.url);
    const [own, other] = await Promise.all(
      [program, bundled].map(async ({ base }) => (await fetch(`${base}/openapi.json`)).json()),
    );
    expect(other).to.deep.equal(own);
  });
});
