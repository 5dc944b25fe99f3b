/** Runs the application as a process, and reads its log. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ApplicationOptions, Measure } from './application.js';

const APPLICATION = join(__dirname, 'application.js');

/** A line of standard error, and when it was read. */
export interface LoggedLine {
  readonly text: string;
  readonly at: number;
}

/** A running application. */
export class ApplicationProcess implements AsyncDisposable {
  readonly log: LoggedLine[] = [];
  port = 0;
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  /** Rejects at the end. One for all calls: each error has the whole log. */
  readonly #ended: Promise<never>;

  private constructor(options: ApplicationOptions) {
    // The collector of code coverage would keep more and more memory.
    const { NODE_V8_COVERAGE: _, ...env } = process.env;
    this.#child = fork(APPLICATION, [JSON.stringify(options)], {
      env: { ...env, NODE_ENV: 'production' },
      execArgv: ['--expose-gc', '--trace-warnings'],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#closed = once(this.#child, 'close');
    this.#ended = this.#closed.then(() => {
      throw new Error(`The application has ended: ${this.log.map(({ text }) => text).join('\n')}`);
    });
    // The process may end when nothing waits for it any more.
    this.#ended.catch(() => {});
    const lines = createInterface({ input: this.#child.stderr ?? process.stdin });
    lines.on('line', (text) => this.log.push({ text, at: performance.now() }));
    const kill = () => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    this.#child.once('close', () => process.removeListener('exit', kill));
  }

  /** Starts one, and waits until it listens. */
  static async start(options: ApplicationOptions): Promise<ApplicationProcess> {
    const application = new ApplicationProcess(options);
    application.port = (await application.#hear()) as number;
    return application;
  }

  /** Has it collect its garbage, and return its measures. */
  async measure(): Promise<Measure> {
    const heard = this.#hear();
    this.#child.send('measure');
    return (await heard) as Measure;
  }

  /** Stops it in order. @returns its exit code */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    await this.#closed;
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  async #hear(): Promise<unknown> {
    const [message] = await Promise.race([once(this.#child, 'message'), this.#ended]);
    return message;
  }
}
