/** Makes a data folder usable again after its atlas was killed, and refuses it while that atlas is alive. */
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionString } from '../support/postgres-server.js';
import {
  isAlive,
  type Postmaster,
  postmasterFile,
  readPostmaster,
  stopPostmaster,
} from '../support/postmaster-file.js';
import { StartProblem } from '../support/start-problem.js';
import { takeLock } from './lock.js';

// The code of a server that starts, recovers or shuts down.
const CANNOT_CONNECT_NOW = '57P03';
const REFUSAL_DEADLINE = 2_000;
const BUSY_DEADLINE = 30_000;

/**
 * Stops the server that a killed atlas left running on the folder.
 *
 * @throws StartProblem when an atlas is using it
 */
export async function clearLeftover(dataDir: string, password: string): Promise<void> {
  const left = await readPostmaster(dataDir);
  // PostgreSQL itself replaces the file of a process that is gone.
  if (!left || !isAlive(left.pid)) return;
  switch (await findState(left, password)) {
    case 'used':
      throw new StartProblem(
        `Another atlas is running on ${dataDir}. Stop it, or set ATLAS_DATA_DIR to a folder of this one's own.`,
      );
    case 'abandoned':
      return stopPostmaster(left.pid);
    case 'gone':
      return rm(postmasterFile(dataDir), { force: true });
  }
}

/** Finds the state of the server. It is gone, too, where nothing answers on its port: another program has its process id now. */
async function findState(left: Postmaster, password: string): Promise<'used' | 'abandoned' | 'gone'> {
  const url = connectionString(left.port, password, 'postgres');
  const start = Date.now();
  while (isAlive(left.pid)) {
    try {
      const lock = await takeLock(url);
      await lock?.end();
      return lock ? 'abandoned' : 'used';
    } catch (error) {
      const waited = Date.now() - start;
      if (isRefused(error) && waited > REFUSAL_DEADLINE) return 'gone';
      if (!isTemporary(error) || waited > BUSY_DEADLINE) throw error;
    }
    await sleep(50);
  }
  return 'gone';
}

function isRefused(error: unknown): boolean {
  return codeOf(error) === 'ECONNREFUSED';
}

function isTemporary(error: unknown): boolean {
  return isRefused(error) || codeOf(error) === CANNOT_CONNECT_NOW;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
