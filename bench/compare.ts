/** Measures two revisions of ours in one run: one of git against the working tree. */
import { execFile, execFileSync } from 'node:child_process';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { StartProblem } from '../sample/support/start-problem.js';
import { createTemporaryFolder } from '../test/support/temporary-folder.js';
import type { Contender } from './contenders.js';
import type { Options } from './options.js';
import { ROOT } from './paths.js';
import { writeReport } from './report/report.js';
import { runAll, toJson } from './run-contenders.js';
import { say } from './say.js';
import type { Suite } from './suite.js';
import { writeResults } from './write-results.js';

const run = promisify(execFile);
/** Folders with the compiled contenders of ours. */
const FOLDERS = ['contenders', 'relations', 'writes', 'queries'].map((name) => `dist/bench/${name}`);

/** Measures, and writes the results. @returns true where all rows count */
export async function runCompare(options: Options, command: readonly string[]): Promise<boolean> {
  const ours = oursOf(options.suite);
  const revision = resolveRevision(options.revision);
  const folder = await createTemporaryFolder('bench-revision');
  try {
    say(`Compiling ${revision}`);
    await build(revision, folder.path);
    const before = {
      ...ours,
      name: 'before',
      title: `crud-controllers at ${revision}`,
      script: join(folder.path, relative(ROOT, ours.script)),
    };
    const after = { ...ours, name: 'after', title: 'crud-controllers, working tree' };
    const result = await runAll(options, command, [before, after], { base: 'before', ours: 'after' });
    await writeResults('compare', { md: writeReport(result), json: toJson(result) });
    return result.rows.every(({ problem }) => problem === null);
  } finally {
    folder.remove();
  }
}

function oursOf({ contenders, ours }: Suite): Contender {
  return contenders.find(({ name }) => name === ours) as Contender;
}

function resolveRevision(revision: string): string {
  try {
    return git('rev-parse', '--short', '--verify', '--end-of-options', `${revision}^{commit}`).trim();
  } catch (cause) {
    throw new StartProblem(`git knows no revision '${revision}'.`, { cause });
  }
}

/** The library of the revision, with the packages and the contender of the working tree: only the library differs. */
async function build(revision: string, folder: string): Promise<void> {
  const archive = join(folder, 'source.tar');
  git('archive', `--output=${archive}`, revision, 'src', 'package.json', 'tsconfig.json');
  await run('tar', ['-xf', archive, '-C', folder]);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const project = join(folder, 'tsconfig.library.json');
  await writeFile(project, JSON.stringify({ extends: './tsconfig.json', include: ['src'] }));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', project]).catch((error: { stdout?: string }) => {
    throw new StartProblem(`${revision} does not compile with these packages:\n${error.stdout}`);
  });
  for (const each of FOLDERS) await cp(join(ROOT, each), join(folder, each), { recursive: true });
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
