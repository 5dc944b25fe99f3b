/** Reads `postmaster.pid`, in which a PostgreSQL server writes its process id, its port and its state. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Values of the file. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly isReady: boolean;
}

/** The path of the file in a data folder. */
export function postmasterFile(dataDir: string): string {
  return join(dataDir, 'postmaster.pid');
}

/** The server that runs on the data folder, or that did and was killed; undefined after a clean stop. */
export async function readPostmaster(dataDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(postmasterFile(dataDir), 'utf8').catch(() => '');
  // The lines: pid, data folder, start time, port, socket folder, address, shared memory, status.
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!pid) return undefined;
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}

/** True where the process exists and may be ours. A process that this one may not signal is of another account. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Requests a fast shutdown of a server, and waits until it is gone. After ten seconds it requests an immediate one. */
export async function stopPostmaster(pid: number): Promise<void> {
  signal(pid, 'SIGINT');
  if (await isGone(pid, 10_000)) return;
  signal(pid, 'SIGQUIT');
  if (!(await isGone(pid, 5_000))) throw new Error(`PostgreSQL (process ${pid}) does not stop.`);
}

/** @returns true where the process ends within the time */
export async function isGone(pid: number, milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds;
  while (isAlive(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  if (isAlive(pid)) process.kill(pid, name);
}
