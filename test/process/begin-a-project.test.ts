/** `crud-controllers init`: where it writes a project, and where it refuses to. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tryRun } from '../package/run.js';
import { forSuite } from '../support/for-suite.js';
import { COMPILED_SOURCE } from '../support/package-root.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';

const COMMAND = join(COMPILED_SOURCE, 'command-line.js');

describe('beginning a project', () => {
  const folder = forSuite(() => createTemporaryFolder('init'));

  async function init(args: readonly string[], cwd = folder.path) {
    const { code, everything } = await tryRun(process.execPath, [COMMAND, 'init', ...args], cwd);
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
    expect(await init(['full/notes.txt'])).to.deep.equal({
      code: 1,
      everything: "'full/notes.txt' is a file; name a new folder, or an empty one.\n",
    });
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
    expect(await init(['express'])).to.deep.equal({
      code: 1,
      everything:
        "The project would be called 'express', as a package that it needs; give the folder another name.\n",
    });
  });

  it('takes one folder and no option', async () => {
    const two = await init(['one', 'two']);
    expect(two.code).to.equal(2);
    expect(two.everything).to.match(/^Name one folder\.\nUsage: /);
    const titled = await init(['one', '--title', 'Mine']);
    expect(titled.everything).to.match(/^init has no option --title\.\nUsage: /);
    expect(existsSync(join(folder.path, 'one'))).to.equal(false);
  });
});
