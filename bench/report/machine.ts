/** The machine and the versions of a run: figures mean nothing without them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem, type } from 'node:os';
import { join, relative } from 'node:path';
import type { Contender } from '../contenders.js';
import { wrkVersion } from '../load/wrk.js';
import { BENCH, RESULTS, ROOT } from '../paths.js';

/** The circumstances, each with its name. */
export type Circumstances = Readonly<Record<string, string>>;

/** Describes this machine, and the revision that is measured. */
export function describeMachine(
  nodeVersion: string,
  postgresVersion: string,
  command: readonly string[],
): Circumstances {
  const [processor] = cpus();
  return {
    Date: new Date().toISOString().slice(0, 10),
    Machine: `${cpus().length} × ${processor?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GB, ${system()}`,
    Node: nodeVersion,
    PostgreSQL: postgresVersion,
    'Load generator': `${wrkVersion()}, one thread`,
    Revision: revision(),
    Command: ['npm run bench', ...(command.length > 0 ? ['--', ...command] : [])].join(' '),
  };
}

/** The versions of the packages of these contenders, as they are installed. */
export function packageVersions(contenders: readonly Contender[]): Circumstances {
  const versions = new Map<string, string>();
  for (const { packages, script } of contenders) {
    for (const name of packages) versions.set(name, versionOf(name, script));
  }
  return Object.fromEntries([...versions].sort(([a], [b]) => a.localeCompare(b)));
}

/** Read from where the contender finds the package; not all export their package.json. */
function versionOf(name: string, script: string): string {
  const folders = createRequire(script).resolve.paths(name) ?? [];
  for (const folder of folders) {
    try {
      const text = readFileSync(join(folder, name, 'package.json'), 'utf8');
      return (JSON.parse(text) as { version: string }).version;
    } catch {
      // It is in one of the next folders.
    }
  }
  return 'unknown';
}

function system(): string {
  const text = type() === 'Linux' ? readFileSync('/etc/os-release', 'utf8') : '';
  return /^PRETTY_NAME="(.*)"$/m.exec(text)?.[1] ?? type();
}

/** The revision of the checkout, and whether the working tree is another. Results of a run before this one are no change, and neither are pages. */
export function revision(): string {
  try {
    const short = git('rev-parse', '--short', 'HEAD');
    const isChanged =
      git('status', '--porcelain', '--', 'src', BENCH, `:!${relative(ROOT, RESULTS)}`, ':!*.md') !== '';
    return isChanged ? `${short}, with changes` : short;
  } catch {
    return 'unknown';
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
