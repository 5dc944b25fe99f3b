/** The examples of the README and the guide: their programs are compiled and run, and their commands are sent. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { caughtError } from '../support/caught-error.js';
import { type ListeningProgram, startProgram } from '../support/listening-program.js';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { execute, freshDatabase, type TestDatabase } from '../support/postgres.js';
import {
  answersAsWritten,
  type CodeBlock,
  type ConsoleExample,
  codeBlocks,
  consoleExamples,
  guidePages,
  runCurl,
} from '../support/readme-examples.js';
import { wholeOr } from '../support/short.js';

const suite = process.env.CRUD_TEST_EXPRESS === '4' ? describe.skip : describe;

const RUN = 'compiled and run by test/feature/readme.test.ts';
const RUN_TO_END = 'compiled and run to its end by test/feature/readme.test.ts';
const AGAINST = 'run against the application above';
/** Its second part is code that the page shows above, and that the compiler needs, too. */
const COMPILED = /^compiled by test\/feature\/readme\.test\.ts(?:, behind:\n([\s\S]*))?$/;
/** The sign of a part of a file that has tests of its own. */
const PART = /^part of (sample\/\S+)$/;
/** Signs of code that is tested, here or elsewhere. */
const TESTED: Readonly<Record<string, RegExp>> = {
  ts: new RegExp(`^${RUN}$|^${RUN_TO_END}$|^run by npm run setups: |${COMPILED.source}|${PART.source}`),
  tsx: PART,
  console: /^(?:run against|printed by) /,
};

/** A whole application of a page, and the commands that follow it. */
interface Application {
  readonly page: string;
  /** The name of its file, without the ending. */
  readonly name: string;
  readonly program: string;
  /** True where the program ends by itself, instead of listening. */
  readonly hasEnd: boolean;
  readonly commands: readonly ConsoleExample[];
}

/** Every `CREATE TABLE` of the database takes 200 ms. */
const SLOW_TABLES = `
  CREATE FUNCTION take_time() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); END';
  CREATE EVENT TRIGGER take_time ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION take_time()`;

const applications = guidePages().flatMap(applicationsOf);
/** All are compiled. In short one page, which has a dozen, has each fifth one run. */
const RUN_OF_A_PAGE = wholeOr(5, 1);
const started = guidePages().flatMap((page) =>
  applications.filter((each) => each.page === page).filter((_, index) => index % RUN_OF_A_PAGE === 0),
);

suite('the applications in the documentation', () => {
  // Inside the repository, so that the package finds itself by its name.
  const folder = join(PACKAGE_ROOT, 'dist', `readme-${process.pid}`);

  before(() => {
    const sources = join(folder, 'src');
    mkdirSync(sources, { recursive: true });
    for (const { name, program } of applications) writeFileSync(join(sources, `${name}.ts`), program);
    for (const page of guidePages()) {
      codeBlocks(page).forEach(({ comment, code }, index) => {
        const known = COMPILED.exec(comment);
        if (known) writeFileSync(join(sources, `${nameOf(page)}-${index}.mts`), fragment(known[1], code));
      });
    }
    writeFileSync(join(folder, 'guide.json'), configuration());
    const stricter = { extends: './guide.json', compilerOptions: { noUnusedLocals: true } };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(stricter));
    const tsc = join(PACKAGE_ROOT, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    expect(status, stdout).to.equal(0);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const page of guidePages()) {
    it(`are tested in each block of ${page}`, () => {
      const untested = codeBlocks(page).filter(
        ({ language, comment }) => TESTED[language]?.test(comment) === false,
      );
      expect(untested.map(({ code }) => code).join('\n')).to.equal('');
    });

    it(`are in the files that they are said to be of in ${page}`, () => {
      const strange = codeBlocks(page).filter(({ comment, code }) => {
        const [, file] = PART.exec(comment) ?? [];
        return file && !readFileSync(join(PACKAGE_ROOT, file), 'utf8').includes(code);
      });
      expect(strange.map(({ code }) => code).join('\n')).to.equal('');
    });
  }

  for (const { page, name, commands, hasEnd } of started) {
    if (hasEnd) {
      it(`has a program in ${page} that ends well`, async () => {
        const database = await freshDatabase();
        const program = spawn(process.execPath, [fileOf(name)], {
          env: { ...process.env, DATABASE_URL: database.url },
          stdio: ['ignore', 'ignore', 'inherit'],
        });
        const [code] = await once(program, 'close');
        await database.drop();
        expect(code).to.equal(0);
      });
      continue;
    }
    describe(`that of ${page}`, () => {
      let database: TestDatabase;
      let application: ListeningProgram;

      before(async () => {
        database = await freshDatabase();
        application = await startProgram(fileOf(name), database.url);
      });

      after(async () => {
        await application.end();
        await database.drop();
      });

      for (const { command, output } of commands) {
        it(`answers as written to ${command}`, async () => {
          const answer = await runCurl(command, application.base);
          expect(answersAsWritten(answer, output), answer).to.equal(true);
        });
      }
    });
  }

  it('has migrations in docs/recipes.md that may take longer than any statement of the database', async () => {
    const { name = '' } = applications.find(({ program }) => program.includes(" from 'umzug'")) ?? {};
    const database = await freshDatabase();
    const { pathname } = new URL(database.url);
    await execute(database.url, SLOW_TABLES);
    await execute(database.url, `ALTER DATABASE "${pathname.slice(1)}" SET statement_timeout = 50`);
    const refusal = await caughtError(() => execute(database.url, 'CREATE TABLE too_slow ()'));
    expect(refusal).to.have.property('code', '57014');
    const application = await startProgram(fileOf(name), database.url);
    await application.end();
    await database.drop();
  });

  function fileOf(name: string): string {
    return join(folder, 'dist', `${name}.js`);
  }
});

/** Each program of a page, with the commands up to the next one. */
function applicationsOf(page: string): readonly Application[] {
  const found: (CodeBlock & { commands: ConsoleExample[] })[] = [];
  for (const block of codeBlocks(page)) {
    if (block.comment === RUN || block.comment === RUN_TO_END) found.push({ ...block, commands: [] });
    if (block.comment === AGAINST) found.at(-1)?.commands.push(...consoleExamples(block.code));
  }
  return found.map(({ code, comment, commands }, index) => ({
    page,
    hasEnd: comment === RUN_TO_END,
    name: `${nameOf(page)}-application-${index}`,
    program: code,
    commands,
  }));
}

function nameOf(page: string): string {
  return page.replace(/^docs\/|\.md$/g, '');
}

/** A part of a program as a module, in which its declarations count as used. */
function fragment(known: string | undefined, code: string): string {
  const names = [...code.matchAll(/^(?:abstract class|class|const|(?:async )?function) (\w+)/gm)];
  return [known, code, `export { ${names.map(([, name]) => name).join(', ')} };`].join('\n');
}

/** The `tsconfig.json` of the guide's first page. */
function configuration(): string {
  return codeBlocks('docs/start.md').find(({ language }) => language === 'json')?.code ?? '';
}
