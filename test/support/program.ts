/** A program as a process of its own: its output, and its end. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { atExit } from './at-exit.js';

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL' | 'SIGUSR2';

/** Options beside those of `spawn`. */
export interface ProgramOptions extends Pick<SpawnOptions, 'env' | 'detached' | 'uid' | 'gid'> {
  /** Default: this version of Node. */
  readonly command?: string;
  /** Sent where it still runs when this process ends. Default: SIGKILL. */
  readonly exitSignal?: Signal;
}

/** Runs until it ends, or is disposed. */
export class Program implements AsyncDisposable {
  /** Everything that it has printed so far. */
  output = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(args: readonly string[], options: ProgramOptions = {}) {
    const { command = process.execPath, exitSignal = 'SIGKILL', ...spawned } = options;
    const child = spawn(command, args, { ...spawned, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#closed = once(child, 'close');
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    child.once(
      'close',
      atExit(() => this.signal(exitSignal)),
    );
  }

  /** True where it has ended, by itself or by a signal. */
  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until it has printed the text; rejects when it ends instead. */
  async untilPrinted(part: string): Promise<void> {
    while (!this.output.includes(part)) {
      if (this.hasEnded) throw new Error(`The program has ended: ${this.output}`);
      const { stdout, stderr } = this.#child;
      const waiting = new AbortController();
      await Promise.race([
        ...[stdout, stderr].map((each) => once(each ?? this.#child, 'data', waiting)),
        this.#closed,
      ]).finally(() => waiting.abort());
    }
  }

  /** Waits until it has ended, and returns its exit code; null when a signal ended it. */
  async untilEnded(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }

  signal(name: Signal = 'SIGTERM'): void {
    this.#child.kill(name);
  }

  /** Sends it a signal and waits until it has ended. */
  async end(name?: Signal): Promise<number | null> {
    this.signal(name);
    return this.untilEnded();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }
}
