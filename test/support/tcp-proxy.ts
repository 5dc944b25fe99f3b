/** A TCP proxy in front of a server that breaks connections in all the ways networks do, on command. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePort } from '../../sample/support/free-port.js';

/** The two halves of a proxied connection. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Bytes that the client has been given. */
  received: number;
  /** Swallows everything, for ever. */
  isDead: boolean;
  /** The proxy swallows its next answer, and then cuts it. */
  isDoomed: boolean;
  /** Delayed packets, in the order of their arrival. */
  readonly toServer: Delayed;
  readonly toClient: Delayed;
}

type Delayed = (() => void)[];

/** Sees the bytes of a connection before they are passed on. */
export interface Watch {
  sent(chunk: Buffer): void;
  received(chunk: Buffer): void;
}

/** The end of a connection: in order, or with a reset. */
export type Cut = 'end' | 'reset';

/** Listens on a port of its own until it is disposed. */
export class TcpProxy implements AsyncDisposable {
  /** Number of bytes that the server has sent so far. */
  bytesReceived = 0;
  /** Number of connections so far. */
  connections = 0;
  /** Watches the connections that come from now on. */
  watch: (() => Watch) | null = null;
  readonly #target: URL;
  readonly #links = new Set<Link>();
  readonly #server: Server;
  #port = 0;
  #targetPort: number;
  #latency = 0;
  #isBlackhole = false;
  #limit: { readonly bytes: number; readonly cut: Cut } | null = null;
  #doom: string | null = null;

  private constructor(target: URL) {
    this.#target = target;
    this.#targetPort = Number(target.port || 5432);
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  /** Starts one in front of a server of this machine, by one of its addresses. */
  static async before(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(target));
    await proxy.up();
    return proxy;
  }

  /** The address by way of the proxy. */
  get href(): string {
    return this.url(this.#target.href);
  }

  /** Another address of the same server by way of the proxy. */
  url(direct: string): string {
    return Object.assign(new URL(direct), { hostname: '127.0.0.1', port: this.#port }).href;
  }

  /** Number of open connections. */
  get openConnections(): number {
    return this.#links.size;
  }

  /** Resolves when no connection is open any more. */
  async untilAlone(): Promise<void> {
    await Promise.all([...this.#links].map(({ client }) => once(client, 'close')));
  }

  /** New connections go to this port. */
  retarget(port: number): void {
    this.#targetPort = port;
  }

  /** Delays everything in both directions. */
  latency(milliseconds: number): void {
    this.#latency = milliseconds;
  }

  /** Swallows everything. Connections that are open, or opened before `heal`, never say anything again. */
  blackhole(): void {
    this.#isBlackhole = true;
    for (const link of this.#links) link.isDead = true;
  }

  /** Ends the effect of everything else here on new connections. */
  heal(): void {
    this.#latency = 0;
    this.#isBlackhole = false;
    this.#limit = null;
    this.#doom = null;
  }

  /** Resets all connections. */
  reset(): void {
    for (const link of this.#links) this.#cut(link, 'reset');
  }

  /** Cuts each connection after it has given that many bytes to its client, counted from its beginning. */
  limitData(bytes: number, cut: Cut = 'end'): void {
    this.#limit = { bytes, cut };
  }

  /** Cuts each connection after so many more bytes. */
  limitMoreData(bytes: number, cut: Cut = 'end'): void {
    for (const link of this.#links) link.received = 0;
    this.limitData(bytes, cut);
  }

  /** Passes on a packet with this text in it, waits for the answer, and cuts the connection instead of passing that on. */
  loseReplyTo(text: string): void {
    this.#doom = text;
  }

  /** Refuses connections, and cuts those there are. */
  async down(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const link of this.#links) this.#cut(link, 'reset');
    await closed;
  }

  /** Listens, again on the same port. */
  async up(): Promise<void> {
    // The proxy keeps its port while it is down, so that no other server gets it.
    if (this.#port === 0) this.#port = await findFreePort();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.down();
  }

  #accept(client: Socket): void {
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', noDelay: true });
    const link = {
      client,
      server,
      received: 0,
      isDead: this.#isBlackhole,
      isDoomed: false,
      toServer: [],
      toClient: [],
    };
    const watch = this.watch?.();
    this.connections += 1;
    this.#links.add(link);
    for (const socket of [client, server]) {
      socket.on('error', () => this.#cut(link, 'reset'));
      socket.on('close', () => this.#close(link));
    }
    client.on('data', (chunk) => {
      watch?.sent(chunk);
      this.#send(link, chunk);
    });
    server.on('data', (chunk) => {
      watch?.received(chunk);
      this.#receive(link, chunk);
    });
  }

  #send(link: Link, chunk: Buffer): void {
    if (link.isDead) return;
    if (this.#doom && chunk.includes(this.#doom)) link.isDoomed = true;
    this.#later(link.toServer, () => link.server.write(chunk));
  }

  #receive(link: Link, chunk: Buffer): void {
    this.bytesReceived += chunk.length;
    if (link.isDead) return;
    if (link.isDoomed) {
      this.#cut(link, 'end');
      return;
    }
    const limit = this.#limit;
    const allowed = limit ? Math.max(0, limit.bytes - link.received) : chunk.length;
    const passed = chunk.subarray(0, allowed);
    link.received += passed.length;
    const isOver = passed.length < chunk.length;
    this.#later(link.toClient, () => {
      link.client.write(passed, () => {
        if (limit && isOver) this.#cut(link, limit.cut);
      });
    });
  }

  /** A delay that ends or becomes shorter lets nothing overtake packets that were delayed before. */
  #later(delayed: Delayed, work: () => void): void {
    if (this.#latency === 0 && delayed.length === 0) {
      work();
      return;
    }
    delayed.push(work);
    setTimeout(() => delayed.shift()?.(), this.#latency).unref();
  }

  #cut(link: Link, cut: Cut): void {
    this.#links.delete(link);
    link.server.destroy();
    // Node does not reset a socket that is shutting down, and then waits for its end when the process ends, for ever.
    if (cut === 'reset' && !link.client.writableEnded) link.client.resetAndDestroy();
    else link.client.destroy();
  }

  /** Closes the other half of a connection; that of a dead connection stays open. */
  #close(link: Link): void {
    if (link.isDead && !link.client.destroyed) return;
    this.#cut(link, 'end');
  }
}
