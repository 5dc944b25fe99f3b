/** Runs the traced application as a process. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { TracedSpan } from './traced-span.js';

/** A tracer, and the variables that set it up. */
export interface Tracer {
  readonly file: 'opentelemetry.js' | 'datadog.js' | 'sentry.js';
  readonly env: Readonly<Record<string, string>>;
}

/** Turns off all parts of the tracers but those that the tests read. */
const QUIET = {
  DD_TRACE_EXPERIMENTAL_EXPORTER: 'log',
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
  DD_TRACE_HEADER_TAGS: 'x-case:case',
};

/** Milliseconds between two checks of the finished traces. */
const INTERVAL = 25;
/** Number of checks after which a trace counts as held back. */
const LOOKS = 400;

/** The running application. */
export class TracedProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #spans: TracedSpan[] = [];
  #errors = '';
  #port = 0;

  private constructor({ file, env }: Tracer, databaseUrl: string) {
    this.#child = fork(join(__dirname, 'application.js'), [databaseUrl], {
      execArgv: ['--import', pathToFileURL(join(__dirname, file)).href],
      env: { ...process.env, ...QUIET, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#closed = once(this.#child, 'close');
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
  }

  /** Starts one, and waits until it listens. */
  static async start(tracer: Tracer, databaseUrl: string): Promise<TracedProcess> {
    const started = new TracedProcess(tracer, databaseUrl);
    await started.#untilOpen();
    return started;
  }

  /** Its output on standard error. */
  get errors(): string {
    return this.#errors;
  }

  /** The status of the answer to a request, and its body. */
  async send(name: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }> {
    const [method = '', path = ''] = name.split(' ');
    const headers = { 'x-case': name, ...(body ? { 'content-type': 'application/json' } : {}) };
    const content = body ? { body: JSON.stringify(body) } : {};
    const response = await fetch(`http://127.0.0.1:${this.#port}${path}`, { method, headers, ...content });
    const answer = await response.text();
    return { status: response.status, body: answer ? JSON.parse(answer) : null };
  }

  /** Sends requests in one packet, which are all read in one turn of the event loop; the statuses of the answers. */
  async getTogether(names: readonly string[]): Promise<readonly number[]> {
    const socket = connect(this.#port, '127.0.0.1');
    const headOf = (name: string, index: number) => {
      const [target] = name.split('#');
      const connection = index === names.length - 1 ? 'close' : 'keep-alive';
      return `${target} HTTP/1.1\r\nHost: test\r\nX-Case: ${name}\r\nConnection: ${connection}\r\n\r\n`;
    };
    socket.write(names.map(headOf).join(''));
    const answers = await text(socket);
    return [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  }

  /** Waits until the spans of these requests have been let go of; all that there are by then. */
  async spansOf(names: readonly string[]): Promise<readonly TracedSpan[]> {
    const spans = this.#spans;
    for (let look = 0; look < LOOKS; look += 1) {
      this.#child.send('spans');
      const [more] = (await once(this.#child, 'message')) as [TracedSpan[]];
      spans.push(...more);
      const given = new Set(spans.map(({ request }) => request));
      if (names.every((name) => given.has(name))) return spans;
      await sleep(INTERVAL);
    }
    throw new Error(`No span of ${names.filter((name) => !spans.some(({ request }) => request === name))}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#closed;
  }

  async #untilOpen(): Promise<void> {
    const { stdout } = this.#child;
    if (!stdout) return;
    for await (const line of createInterface(stdout)) {
      this.#port = Number(/^listening (\d+)/.exec(line)?.[1] ?? 0);
      if (this.#port > 0) return;
    }
    throw new Error(`The application has ended: ${this.#errors}`);
  }
}
