/** Runs the fixture as a process, and tells when and how it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FixtureOptions } from './fixture.js';

/** An answer to a request. */
export interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: string;
}

const FIXTURE = join(__dirname, 'fixture.js');

/** A running fixture. */
export class FixtureProcess implements AsyncDisposable {
  /** Everything that it has printed. */
  output = '';
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #agent = new Agent({ keepAlive: false });

  private constructor(options: FixtureOptions, env: NodeJS.ProcessEnv, program: readonly string[]) {
    const child = spawn(process.execPath, [...program, JSON.stringify(options)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#closed = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('close', () => process.removeListener('exit', kill));
  }

  /**
   * Starts one, and waits until it listens.
   *
   * @param program another one that prints what the fixture does, with options of Node
   */
  static async start(
    options: FixtureOptions = {},
    env: NodeJS.ProcessEnv = {},
    program: readonly string[] = [FIXTURE],
  ): Promise<FixtureProcess> {
    const fixture = new FixtureProcess(options, env, program);
    await fixture.untilPrinted('listening');
    return fixture;
  }

  /** The same, without what the default logger has written. */
  get words(): string {
    return this.output.replace(/^\{"level".*\}\n/gm, '');
  }

  get port(): number {
    return Number(/listening (\d+)/.exec(this.output)?.[1]);
  }

  /** A path on the second server. */
  second(path: string): string {
    return `http://127.0.0.1:${/second (\d+)/.exec(this.output)?.[1]}${path}`;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Lets later requests use one connection after another, as most clients do. */
  keepConnections(): Agent {
    this.#agent = new Agent({ keepAlive: true });
    return this.#agent;
  }

  /** Waits until it has printed the text. */
  async untilPrinted(part: string): Promise<void> {
    while (!this.output.includes(part)) {
      if (this.hasEnded) throw new Error(`The fixture has ended: ${this.output}`);
      await Promise.race([once(this.#child.stdout ?? this.#child, 'data'), this.#closed]);
    }
  }

  signal(name: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): void {
    this.#child.kill(name);
  }

  /** Has it answer the requests for `/held`. */
  release(): void {
    this.#child.kill('SIGUSR2');
  }

  /** Waits until it has ended by itself; its exit code, and the milliseconds since `from`. */
  async untilEnded(from = performance.now()): Promise<{ code: number | null; took: number }> {
    await this.#closed;
    return { code: this.#child.exitCode, took: performance.now() - from };
  }

  /** The path may be a whole URL. */
  get(path: string): Promise<Answer> {
    return this.#send('GET', path);
  }

  post(path: string): Promise<Answer> {
    return this.#send('POST', path);
  }

  /** The answer to a GET as it comes, without being read. */
  async open(path: string): Promise<IncomingMessage> {
    const [response] = await once(get(this.#url(path), { agent: this.#agent }), 'response');
    return response;
  }

  /** A connection to it; rejects when it accepts none. */
  async connect(): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    return socket;
  }

  /** Connects and disconnects; the code of the error, when it fails. */
  async tryToConnect(): Promise<string | undefined> {
    try {
      (await this.connect()).destroy();
      return undefined;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    this.#agent.destroy();
    await this.#closed;
  }

  #send(method: string, path: string): Promise<Answer> {
    const sent = request(this.#url(path), { agent: this.#agent, method });
    const answer = once(sent, 'response').then(([response]) => read(response));
    // A test that fails before it awaits the answer has failed for its own reason.
    answer.catch(() => {});
    sent.end();
    return answer;
  }

  #url(path: string): string {
    return new URL(path, `http://127.0.0.1:${this.port}`).href;
  }
}

async function read(response: IncomingMessage): Promise<Answer> {
  const { statusCode, headers } = response;
  return { status: statusCode, connection: headers.connection, body: await text(response) };
}
