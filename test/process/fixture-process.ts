/** Runs the fixture as a process, and sends it requests. */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Program } from '../support/program.js';
import type { FixtureOptions } from './fixture.js';

/** An answer to a request. */
export interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly body: string;
}

const FIXTURE = join(__dirname, 'fixture.js');

/** A running fixture. */
export class FixtureProcess extends Program {
  #agent = new Agent({ keepAlive: false });

  /**
   * Starts one, and waits until it listens.
   *
   * @param program another one that prints the lines of the fixture, with options of Node
   */
  static async start(
    options: FixtureOptions = {},
    env: NodeJS.ProcessEnv = {},
    program: readonly string[] = [FIXTURE],
  ): Promise<FixtureProcess> {
    const fixture = new FixtureProcess([...program, JSON.stringify(options)], {
      env: { ...process.env, ...env },
    });
    await fixture.untilPrinted('listening');
    return fixture;
  }

  /** The same, without the output of the default logger. */
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

  /** Lets later requests use one connection after another, as most clients do. */
  keepConnections(): Agent {
    this.#agent = new Agent({ keepAlive: true });
    return this.#agent;
  }

  /** Sends a request, and waits until it is under way. */
  async begin(path: string, method = 'GET'): Promise<{ readonly answer: Promise<Answer> }> {
    const answer = this.#send(method, path);
    await this.untilPrinted('working');
    return { answer };
  }

  /** Has it answer the requests for `/held`. */
  release(): void {
    this.signal('SIGUSR2');
  }

  /** Has it stop, and waits until it has: its exit code, and the milliseconds that it took. */
  async stop(name: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<{ code: number | null; took: number }> {
    const start = performance.now();
    return { code: await this.end(name), took: performance.now() - start };
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

  override async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    await super[Symbol.asyncDispose]();
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
