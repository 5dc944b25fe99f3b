/** The load generator: wrk, with one thread, which leaves the processor to the processes that are measured. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StartProblem } from '../../sample/support/start-problem.js';
import { BENCH } from '../paths.js';
import type { Call } from './call.js';

/** Options of a load. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Written by `writeRequests`. */
  readonly requests: string;
  /** True for a load before a measurement. The two never change the same `EACH_ROW`. */
  readonly isWarmUp: boolean;
}

/** Results of one load. */
export interface LoadResult {
  readonly requests: number;
  readonly microseconds: number;
  /** Latencies in microseconds. */
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** Answers with a status above 399. */
  readonly refused: number;
  /** Connections that failed, and answers that did not come. */
  readonly broken: number;
}

const SCRIPT = join(BENCH, 'load/load.lua');
/** Seconds. Counting a million rows for 64 clients takes longer than wrk would wait. */
const TIMEOUT = 60;
const RESULT = /^RESULT (.*)$/m;
const run = promisify(execFile);

/** Writes the requests in the form that the script reads. */
export async function writeRequests(file: string, calls: readonly Call[]): Promise<void> {
  const lines = calls.map(({ method, path, body, headers = {} }) => [
    method,
    path,
    body ? JSON.stringify(body) : '',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]);
  await writeFile(file, lines.map((line) => `${line.join('\t')}\n`).join(''));
}

/** Loads for the seconds. */
export async function loadWith({
  port,
  connections,
  seconds,
  requests,
  isWarmUp,
}: Load): Promise<LoadResult> {
  const { stdout } = await run('wrk', [
    '--threads=1',
    `--connections=${connections}`,
    `--duration=${seconds}s`,
    `--timeout=${TIMEOUT}s`,
    `--script=${SCRIPT}`,
    `http://127.0.0.1:${port}`,
    '--',
    requests,
    isWarmUp ? 'warm-up' : 'measurement',
  ]);
  const [, result] = RESULT.exec(stdout) ?? [];
  if (!result) throw new Error(`wrk said nothing that is understood:\n${stdout}`);
  return JSON.parse(result) as LoadResult;
}

/** Name and version of wrk. */
export function wrkVersion(): string {
  // It prints the version with its usage, and fails.
  const { stdout, stderr } = spawnSync('wrk', ['--version'], { encoding: 'utf8' });
  return /wrk \S+/.exec(`${stdout}${stderr}`)?.[0] ?? 'wrk';
}

/** Makes sure that there is a `wrk`. */
export function provideWrk(): void {
  if (isThere('wrk')) return;
  if (process.getuid?.() === 0 && isThere('apt-get')) installWrk();
  if (isThere('wrk')) return;
  throw new StartProblem('The benchmark needs wrk. Install it (Debian: sudo apt-get install wrk).');
}

function installWrk(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-q'], { env, stdio: 'pipe' });
  execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'wrk'], { env, stdio: 'pipe' });
}

function isThere(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}
