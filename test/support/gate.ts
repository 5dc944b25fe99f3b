/** A TCP gate in front of a real server: to its clients, closing it is the server's stop, and a delay is its slowness. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePort } from '../../sample/support/free-port.js';

/** Passes bytes on between clients and a server, on a port that stays the same. */
export class Gate implements AsyncDisposable {
  /** Milliseconds by which everything that the server says arrives later, on the connections that come from now on. */
  delay = 0;
  /** How many connections came through so far. */
  connections = 0;
  readonly #target: URL;
  readonly #open = new Set<Socket>();
  #port = 0;
  #server: Server | null = null;

  private constructor(target: URL) {
    this.#target = target;
  }

  /** Opens a gate in front of the server that a URL names. */
  static async before(target: string): Promise<Gate> {
    const gate = new Gate(new URL(target));
    await gate.open();
    return gate;
  }

  /** The server's URL, with the gate's address. */
  get url(): string {
    const url = new URL(this.#target.href);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** How many connections are open now. */
  get openConnections(): number {
    return this.#open.size;
  }

  /** Resolves when no connection is open any more. */
  async untilAlone(): Promise<void> {
    await Promise.all([...this.#open].map((socket) => once(socket, 'close')));
  }

  async open(): Promise<void> {
    const server = createServer((socket) => this.#pass(socket));
    // No other server is given the port while this one is closed.
    if (this.#port === 0) this.#port = await findFreePort();
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
  }

  /** Ends every connection, and refuses others until it is opened again. */
  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = null;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #pass(client: Socket): void {
    const { delay } = this;
    this.connections += 1;
    this.#open.add(client);
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const end = () => {
      this.#open.delete(client);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).once('close', end);
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => {
      if (delay === 0) client.write(chunk);
      else setTimeout(() => client.destroyed || client.write(chunk), delay).unref();
    });
  }
}
