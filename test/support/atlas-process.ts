/** Runs the sample atlas as its user does: as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(__dirname, '../../sample/atlas/main.js');
const OPEN = 'Ctrl-C closes it.';

/** The sample, started on a folder for its data. Port 0 is any free one. */
export class AtlasProcess {
  /** What it has printed so far. */
  output = '';
  readonly #child: ChildProcess;

  constructor(folder: string, port = 0) {
    // It is to start a PostgreSQL of its own.
    const { DATABASE_URL: _, ...env } = process.env;
    const child = spawn(process.execPath, [MAIN], {
      env: { ...env, ATLAS_DATA_DIR: folder, PORT: String(port) },
    });
    const print = (chunk: Buffer) => {
      this.output += chunk.toString();
    };
    child.stdout.on('data', print);
    child.stderr.on('data', print);
    const interrupt = () => void child.kill('SIGINT');
    process.once('exit', interrupt);
    child.once('close', () => process.removeListener('exit', interrupt));
    this.#child = child;
  }

  /** The addresses it has printed. */
  get urls(): readonly URL[] {
    return (this.output.match(/(?<=^ {2})http:\S+/gm) ?? []).map((url) => new URL(url));
  }

  /** Waits until it can be used; rejects when it ends instead. */
  untilOpen(): Promise<void> {
    return this.untilPrinted(OPEN);
  }

  /** Waits until it has printed the text; rejects when it ends instead. */
  async untilPrinted(part: string): Promise<void> {
    const closed = once(this.#child, 'close');
    while (!this.output.includes(part)) {
      if (this.hasEnded) throw new Error(`The sample has ended: ${this.output}`);
      await Promise.race([once(this.#child.stdout ?? this.#child, 'data'), closed]);
    }
  }

  /** Waits until it has ended, and gives its exit code; null when a signal ended it. */
  async untilEnded(): Promise<number | null> {
    if (!this.hasEnded) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void {
    this.#child.kill(name);
  }

  /** Sends it a signal and waits until it has ended. */
  async end(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): Promise<number | null> {
    this.signal(name);
    return this.untilEnded();
  }

  /** The body of the answer to a GET. */
  async get(path: string): Promise<unknown> {
    const response = await fetch(new URL(path, this.urls[0]));
    return response.json();
  }

  /** Whether it has, by itself or by a signal. */
  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
