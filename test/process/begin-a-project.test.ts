/** `crud-controllers init`: where it writes a project, and where it refuses to. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tryRun } from '../package/run.js';
import { forSuite } from '../support/for-suite.js';
import { COMPILED_SOURCE } from '../support/package-root.js';
import { execute, freshDatabase } from '../support/postgres.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';

const COMMAND = join(COMPILED_SOURCE, 'command-line.js');

describe('beginning a project', () => {
  const folder = forSuite(() => createTemporaryFolder('init'));

  async function init(args: readonly string[], cwd = folder.path, variables: NodeJS.ProcessEnv = {}) {
    const { code, everything } = await tryRun(process.execPath, [COMMAND, 'init', ...args], cwd, variables);
    return { code, everything };
  }

  function nameIn(path: string): string {
    return JSON.parse(readFileSync(join(folder.path, path, 'package.json'), 'utf8')).name;
  }

  it('writes a project into a new folder, and says what comes next', async () => {
    expect(await init(['api/notes-api'])).to.deep.equal({
      code: 0,
      everything: `The project notes-api is written. Next:

  cd api/notes-api
  docker compose up --detach --wait   # a PostgreSQL; or set DATABASE_URL to the address of yours
  npm install
  npm run build
  npm start                           # http://localhost:3000
  npm test
`,
    });
    expect(nameIn('api/notes-api')).to.equal('notes-api');
  });

  it('writes it into the current folder, which may be an empty repository', async () => {
    const repository = join(folder.path, 'a folder/here.2');
    mkdirSync(join(repository, '.git'), { recursive: true });
    const { code, everything } = await init([], repository);
    expect(code, everything).to.equal(0);
    expect(everything).to.match(/^The project here\.2 is written\. Next:\n\n {2}docker /);
    expect(nameIn('a folder/here.2')).to.equal('here.2');
    expect((await init(['a folder/other'])).everything).to.include('\n  cd "a folder/other"\n');
  });

  it('refuses a folder that is not empty, and a file', async () => {
    mkdirSync(join(folder.path, 'full'));
    writeFileSync(join(folder.path, 'full/notes.txt'), 'mine');
    expect(await init(['full'])).to.deep.equal({
      code: 1,
      everything: "The folder 'full' is not empty: it has 'notes.txt'; name a new folder, or an empty one.\n",
    });
    expect(readdirSync(join(folder.path, 'full'))).to.deep.equal(['notes.txt']);
    const everything = "'full/notes.txt' is a file; name a new folder, or an empty one.\n";
    expect(await init(['full/notes.txt'])).to.deep.equal({ code: 1, everything });
  });

  it('refuses a name that npm would not take', async () => {
    for (const [name, similar] of [
      ['My API', 'my-api'],
      ['Ünder_Äpi', 'under-api'],
      ['_hidden', 'hidden'],
      ['node_modules', 'node-modules'],
      ['---', 'my-api'],
      ['a'.repeat(215), 'a'.repeat(100)],
    ] as const) {
      expect(await init(['--', name])).to.deep.equal({
        code: 1,
        everything:
          `The project would be called '${name}', which npm does not take for a package; give the folder a name of small ` +
          `letters, digits, '-', '.' and '_', such as '${similar}'.\n`,
      });
      expect(existsSync(join(folder.path, name))).to.equal(false);
    }
    const everything =
      "The project would be called 'express', as a package that it needs; give the folder another name.\n";
    expect(await init(['express'])).to.deep.equal({ code: 1, everything });
  });

  it('writes nothing where the database cannot be read, and shows no password', async () => {
    await using database = await freshDatabase();
    const [role, schema] = [`reader_${process.pid}`, `shop_${process.pid}`];
    await execute(
      database.url,
      `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id int PRIMARY KEY);
      CREATE ROLE ${role} LOGIN PASSWORD 'sesame-seed'`,
    );
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'sesame-seed' });
    const elsewhere = new URL(url);
    elsewhere.port = '1';
    try {
      for (const [args, problem] of [
        [['--tables', 'orders'], /--tables is for the tables of a database; name it by --from=<address>/],
        [['--from', 'shop'], /postgres:\/\//],
        [['--from', "postgres://ann:sesame-seed@ss/w%rd'@localhost/shop"], /percent-encoded/],
        [['--from', elsewhere.href], /127\.0\.0\.1:1|localhost:1/],
        [['--from', url.href.replace('seed', 'sand')], /password/],
        [['--from', url.href], new RegExp(`GRANT USAGE ON SCHEMA "?${schema}"? TO "?${role}"?`)],
        [['--from', database.url, '--schema', 'shopp'], /'shopp'/],
        [['--from', database.url, '--tables', 'none*'], /'none\*'/],
        [['--from', database.url, '--names', 'nowhere.json'], /nowhere\.json/],
      ] as const) {
        const { code, everything } = await init(['from-nothing', ...args]);
        expect(everything).to.match(problem);
        expect(everything).to.not.match(/sesame|\n {4}at /);
        expect(code, everything).to.equal(1);
        expect(existsSync(join(folder.path, 'from-nothing'))).to.equal(false);
      }
      const unset = await init(['from-nothing', '--from'], folder.path, { DATABASE_URL: '' });
      expect(unset.everything).to.match(/DATABASE_URL/);
    } finally {
      await execute(database.url, `DROP ROLE ${role}`);
    }
  });

  it('takes one folder, and no option of other commands', async () => {
    const two = await init(['one', 'two']);
    expect(two.code).to.equal(2);
    expect(two.everything).to.match(/^Name one folder\.\nUsage: /);
    const address = await init(['postgres://reader:secret@127.0.0.1/shop']);
    expect([address.code, address.everything]).to.deep.equal([
      1,
      'The folder is an address; write init <folder> --from=<address>.\n',
    ]);
    const titled = await init(['one', '--title', 'Mine']);
    expect(titled.everything).to.match(/^init has no option --title\.\nUsage: /);
    expect(existsSync(join(folder.path, 'one'))).to.equal(false);
  });
});
