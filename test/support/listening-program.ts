/** A compiled application of the guide, as a process of its own. */
import { join } from 'node:path';
import { findFreePort } from '../../sample/support/free-port.js';
import { Program } from './program.js';

/** One that listens. */
export type ListeningProgram = Program & { readonly base: string };

const TELL_LISTENING = join(__dirname, 'tell-listening.js');

/** Starts a program with the address of a database, and waits until it listens. */
export async function startProgram(file: string, databaseUrl: string): Promise<ListeningProgram> {
  const port = await findFreePort();
  const env = { ...process.env, DATABASE_URL: databaseUrl, PORT: String(port) };
  const program = new Program(['-r', TELL_LISTENING, file], { env });
  await program.untilPrinted('listening\n');
  return Object.assign(program, { base: `http://localhost:${port}` });
}
