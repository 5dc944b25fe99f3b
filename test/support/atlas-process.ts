/** Runs the sample atlas as its user does: as a process of its own. */
import { join } from 'node:path';
import { Program } from './program.js';

const MAIN = join(__dirname, '../../sample/atlas/main.js');

/** The sample, started on a folder for its data. Port 0 is any free one. */
export class AtlasProcess extends Program {
  constructor(folder: string, port = 0) {
    // It is to start a PostgreSQL of its own, and to end it.
    const { DATABASE_URL: _, ...env } = process.env;
    super([MAIN], {
      env: { ...env, ATLAS_DATA_DIR: folder, PORT: String(port) },
      exitSignal: 'SIGINT',
    });
  }

  /** The addresses it has printed. */
  get urls(): readonly URL[] {
    return (this.output.match(/(?<=^ {2})http:\S+/gm) ?? []).map((url) => new URL(url));
  }

  /** Waits until it can be used; rejects when it ends instead. */
  untilOpen(): Promise<void> {
    return this.untilPrinted('Ctrl-C closes it.');
  }

  /** The body of the answer to a GET. */
  async get(path: string): Promise<unknown> {
    return (await this.send(path, 'GET', null)).json();
  }

  /** The answer to a request with JSON. */
  send(path: string, method: string, body: object | null, headers: Record<string, string> = {}) {
    return fetch(new URL(path, this.urls[0]), {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  }
}
