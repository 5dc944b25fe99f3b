/** The commands `export` and `import`, as processes of their own: all through the routes of an application, whole or with an exit code. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { tryRun } from '../package/run.js';
import { forSuite } from '../support/for-suite.js';
import { COMPILED_SOURCE } from '../support/package-root.js';
import { execute, freshDatabase } from '../support/postgres.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';

// The command loads Express before the application does.
const EXPRESS = join(__dirname, '../support/express-version.js');
const COMMAND = join(COMPILED_SOURCE, 'command-line.js');
const APPLICATION = join(__dirname, 'transfer-fixture.js');

describe('exporting and importing by commands', () => {
  const folder = forSuite(() => createTemporaryFolder('transfer'));
  const database = forSuite(() => freshDatabase('transfer'));
  const path = (name: string) => join(folder.path, name);
  const write = (name: string, content: string | Buffer) => writeFileSync(path(name), content);

  /** Runs a command as a user. */
  async function run(args: readonly string[], user: string | null = 'ann', stdin = '') {
    const line = [process.execPath, '--require', EXPRESS, COMMAND, ...args]
      .map((each) => `'${each.replaceAll("'", `'\\''`)}'`)
      .join(' ');
    const variables = { DATABASE_URL: database.url, CRUD_HEADERS: user === null ? '' : `X-User: ${user}` };
    const { code, output, everything } = await tryRun(
      'bash',
      ['-c', `${line} ${stdin}`],
      folder.path,
      variables,
    );
    // Lines of the log are those of the application, and a slow machine shows the progress.
    const errors = everything
      .slice(output.length)
      .replace(/^(?:Starting|\{"level".*\}|.* rows\/s.*)\n/gm, '');
    return { code, output, errors };
  }
  const exported = (...args: string[]) => run(['export', APPLICATION, 'cities', ...args]);
  const imported = (...args: string[]) => run(['import', APPLICATION, 'cities', ...args]);
  const done = (output: string) => ({ code: 0, output, errors: '' });
  const failed = (errors: string, code = 1) => ({ code, output: '', errors });
  const rows = (sql: string) => execute(database.url, sql);
  const fill = (count: number) =>
    rows(
      `INSERT INTO cities (owner, code, size) SELECT 'ann', 'c' || n, n FROM generate_series(1, ${count}) n`,
    );

  before(async () => {
    // The first start makes the tables.
    expect(await exported()).to.deep.equal(done('id,owner,code,size,note\r\n'));
  });
  beforeEach(() => rows('TRUNCATE cities RESTART IDENTITY'));

  it('imports what a user may write, and exports what a user may read, with clean output', async () => {
    write('cities.csv', 'code,size,note\r\na,1,"two\nlines"\r\nb,2,\r\n');
    write('other.ndjson.GZ', gzipSync('{"code":"c","size":3}\n'));
    expect(await imported('cities.csv')).to.deep.equal(done('2 rows: 2 created, 0 updated, 0 refused.\n'));
    expect((await run(['import', APPLICATION, '/v2/api/cities', 'other.ndjson.GZ'], 'bob')).code).to.equal(0);
    expect(await exported('--fields=code,note', '--sort', '-size')).to.deep.equal(
      done('code,note\r\nb,\r\na,"two\nlines"\r\n'),
    );
    const { output } = await run(
      ['export', APPLICATION, 'cities', '--format=ndjson', '--q', 'size>1'],
      'bob',
    );
    expect(output).to.equal('{"id":3,"owner":"bob","code":"c","size":3,"note":null}\n');
    expect(
      await run(
        ['import', APPLICATION, 'cities', '-', '--format=csv', '--mode=upsert', '--on=code', '--dry-run'],
        'ann',
        '< cities.csv',
      ),
    ).to.deep.equal(done('2 rows: 0 created, 2 updated, 0 refused. Nothing was stored: it was a dry run.\n'));
  });

  it('writes a file that is whole, or none', async () => {
    await fill(5_000);
    write('cities.csv', 'of yesterday');
    chmodSync(path('cities.csv'), 0o600);
    expect(await exported('--output=cities.csv', '--header', 'X-Cut: 30000')).to.deep.equal(
      failed('The export was cut, and is not whole; the log of the application says why.\n'),
    );
    expect(readFileSync(path('cities.csv'), 'utf8')).to.equal('of yesterday');
    expect(await exported('--output=cities.csv')).to.deep.equal(done('cities.csv: 5000 rows.\n'));
    expect(readFileSync(path('cities.csv'), 'utf8').split('\r\n')).to.have.length(5_002);
    expect(statSync(path('cities.csv')).mode & 0o777).to.equal(0o600);
    mkdirSync(path('folder.csv'));
    expect(await exported('--output=cities.csv.gz')).to.deep.equal(
      failed(
        "--output is 'cities.csv.gz', and export does not compress; leave it out, and pipe into gzip > cities.csv.gz.\n",
        2,
      ),
    );
    expect(await exported('--output=folder.csv')).to.deep.equal(
      failed("--output is 'folder.csv', which is no file; name a file, or leave it out for a pipe.\n", 2),
    );
    const nowhere = await exported('--output=nowhere/cities.csv');
    expect(nowhere).to.include({ code: 1, output: '' });
    expect(nowhere.errors).to.match(/^The export cannot be written: ENOENT: .*\n$/);
    expect(readdirSync(folder.path).filter((each) => each.endsWith('.part'))).to.deep.equal([]);
    // A reader that has read enough ends the command, without a word.
    const piped = await run(['export', APPLICATION, 'cities'], 'ann', '| head -n 1; echo $PIPESTATUS');
    expect(piped).to.deep.equal(done('id,owner,code,size,note\r\n1\n'));
  });

  it('names each row that is refused, and goes on under its key', async () => {
    write('wrong.csv', 'code,size\r\na,1\r\nb,two\r\nc\u001b[31m,3,4\r\n');
    const { errors, ...wrong } = await imported('wrong.csv');
    expect(wrong).to.deep.equal({ code: 1, output: '' });
    expect(errors.split('\n')[0]).to.equal('422: 2 of 3 rows are refused, and nothing was stored.');
    expect(errors.split('\n').slice(1, 3)).to.deep.equal([
      'ROW  LINE  WHERE  CODE     DETAIL',
      '2    3     /size  isInt    size must be an integer.',
    ]);
    expect(errors).not.to.include('\u001b');
    write(
      'many.csv',
      ['code,size', ...Array.from({ length: 2_500 }, (_, at) => `m${at},${at === 7 ? 'x' : at}`)].join('\n'),
    );
    const long = ['many.csv', '--no-atomic', '--key=monday'];
    expect(await imported(...long, '--header=X-Cut: 100')).to.deep.equal(
      failed(
        'The answer was cut. The same command with the same file and --key goes on where it was; for up to two minutes it may be 409.\n',
      ),
    );
    // A process that is gone holds its claim until it ends by itself.
    await rows('UPDATE crud_import SET claimed_until = now()');
    const whole = `2500 rows: 2499 created, 0 updated, 1 refused.`;
    const table = 'ROW  LINE  WHERE  CODE   DETAIL\n8    9     /size  isInt  size must be an integer.\n';
    expect(await imported(...long)).to.deep.equal(failed(`${whole}\n${table}`));
    expect(await imported(...long)).to.deep.equal(
      failed(`${whole} It was done before, under this key.\n${table}`),
    );
    expect(await rows('SELECT count(*)::int AS n FROM cities')).to.deep.equal([{ n: 2_499 }]);
  });

  it('passes no rule by', async () => {
    const [stranger, guest] = await Promise.all([
      run(['export', APPLICATION, 'cities'], null),
      run(['export', APPLICATION, 'cities'], 'guest'),
    ]);
    expect(stranger).to.deep.equal(failed('401: Who are you?\n'));
    expect({ ...guest, errors: guest.errors.slice(0, 5) }).to.deep.equal(failed('403: '));
  });

  it('refuses a wrong command with one line, and its own usage', async () => {
    // The refusal comes while the file is on its way.
    write('large.csv', `code,nope\n${'x\n'.repeat(4_000_000)}`);
    const cases = [
      [
        ['import', 'cities', 'large.csv'],
        "400: There is no such property. Did you mean 'note'? The properties are code, size, note.",
        1,
      ],
      [['import', 'cities', 'none.csv'], "There is no file 'none.csv'.", 2],
    ] as const;
    await Promise.all(
      cases.map(async ([[command, ...args], problem, code]) =>
        expect(await run([command, APPLICATION, ...args])).to.deep.equal(failed(`${problem}\n`, code)),
      ),
    );
    const wrong = [
      [['export', 'x.js'], 'Name one module, one resource.'],
      [['import', 'x.js', 'cities'], 'Name one module, one resource, one file.'],
      [['export', 'x.js', 'cities', '--formt=csv'], "export has no option --formt. Did you mean 'format'?"],
      [['export', 'x.js', 'cities', '--sort', '--q=1'], '--sort needs a value: --sort=<value>.'],
    ] as const;
    const usages = await Promise.all([run(['export', '--help']), run(['import', '--help'])]);
    await Promise.all(
      wrong.map(async ([args, problem]) => {
        const usage = usages[args[0] === 'export' ? 0 : 1]?.output;
        expect(await run(args)).to.deep.equal(failed(`${problem}\n${usage}`, 2));
      }),
    );
  });
});
