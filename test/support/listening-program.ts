/** A compiled application of the guide, as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import { findFreePort } from '../../sample/support/free-port.js';

/** One that listens. */
export interface ListeningProgram {
  readonly base: string;
  stop(): Promise<void>;
}

const TELL_LISTENING = join(__dirname, 'tell-listening.js');

/** Starts a program with the address of a database, and waits until it listens. */
export async function startProgram(file: string, databaseUrl: string): Promise<ListeningProgram> {
  const port = await findFreePort();
  const program = spawn(process.execPath, ['-r', TELL_LISTENING, file], {
    env: { ...process.env, DATABASE_URL: databaseUrl, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [said] = await Promise.race([once(program, 'message'), once(program, 'close')]);
  expect(said).to.equal('listening');
  return {
    base: `http://localhost:${port}`,
    async stop() {
      if (program.exitCode !== null) return;
      program.kill();
      await once(program, 'close');
    },
  };
}
