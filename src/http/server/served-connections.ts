/** The connections of a server and what is under way on them, so that they can end without losing an answer. */
import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { endsInTime } from '../../util/ends-in-time.js';
import { addPendingBytes } from './node-internals.js';

/** Milliseconds that a client gets to close its side after the server has closed its own. */
const LINGER = 1_000;

/** Requests that are under way on one connection at once. Those that arrive with them wait, and no more are read. */
const MAX_OPEN = 64;

/** What is under way on one connection. */
interface ServedConnection {
  /**
   * The responses that are not finished, in the order of their requests. One list for each connection: a Set of all
   * responses is made anew now and then, and the tables it leaves behind keep responses that are long over from the young
   * generation of the garbage collector.
   */
  readonly open: ServerResponse[];
  /** The execution of the last of them, which wait for those before. */
  readonly waiting: (() => void)[];
  /** The response after which the connection ends. */
  last: ServerResponse | null;
}

/** The connections of one server, those too that are no longer HTTP. */
export class ServedConnections {
  readonly #server: Server;
  readonly #connections = new Map<Socket, ServedConnection>();
  readonly #run: (response: ServerResponse) => void;
  #isSweepDue = false;

  /** @param run executes the request of a response */
  constructor(server: Server, run: (response: ServerResponse) => void) {
    this.#server = server;
    this.#run = run;
    server.on('connection', (socket) => {
      const connection: ServedConnection = { open: [], waiting: [], last: null };
      this.#connections.set(socket, connection);
      socket.once('close', () => {
        this.#connections.delete(socket);
        abandon(connection);
      });
    });
  }

  /** A request has been read: it is executed, at once where few are under way on its connection. */
  begin(response: ServerResponse): void {
    const connection = this.#connections.get(response.req.socket);
    connection?.open.push(response);
    weigh(response, 1);
    // The async context is that of its own arrival, and not that of the request whose end it waits for.
    if (connection && connection.open.length > MAX_OPEN)
      connection.waiting.push(AsyncResource.bind(() => this.#run(response)));
    else this.#run(response);
  }

  /** Its response has been sent, or its connection is gone. */
  finish(response: ServerResponse): void {
    const connection = this.#connections.get(response.req.socket);
    const position = connection?.open.indexOf(response) ?? -1;
    if (position >= 0) connection?.open.splice(position, 1);
    weigh(response, -1);
    if (!response.req.socket.destroyed) connection?.waiting.shift()?.();
    if (this.#server.listening || this.#isSweepDue) return;
    this.#isSweepDue = true;
    setImmediate(() => {
      this.#isSweepDue = false;
      this.#endIdle();
    });
  }

  /**
   * Lets the connection end with the last response: that one says so, and none before it. Clients that pipeline have sent
   * the next requests already, and these are answered too, until the server has stopped listening: then a connection ends
   * with the first response that says so.
   *
   * @returns whether the request may be executed; if not, it came after the last one, and cannot be answered
   */
  endWith(response: ServerResponse): boolean {
    const connection = this.#connections.get(response.req.socket);
    const last = connection?.last;
    if (last && (last.headersSent || !this.#server.listening)) return false;
    last?.removeHeader('Connection');
    if (connection) endAfter(connection, response);
    return true;
  }

  /** Lets the connections on which something is under way end with it, as far as an answer can still say so. */
  announceEnd(): void {
    for (const connection of this.#connections.values()) {
      const response = connection.open.at(-1);
      const isTold = connection.last !== null || (response?.headersSent && this.#server.listening);
      if (response && !isTold) endAfter(connection, response);
    }
  }

  /**
   * Closes the server: accepts no connection any more, ends the idle ones, and the others after what is under way on them.
   *
   * @param timeout milliseconds after which what is left is cut off
   * @returns whether no answer was cut off
   */
  async close(timeout: number): Promise<boolean> {
    const closed = once(this.#server, 'close');
    // HTTP's own method would also end the connections that it takes for idle, and it is wrong about some.
    TcpServer.prototype.close.call(this.#server);
    this.announceEnd();
    this.#endIdle();
    const wasClean = await endsInTime(closed, timeout);
    const wereSent = this.#cut();
    await closed;
    return wasClean || wereSent;
  }

  /**
   * Ends the connections on which nothing is under way. Node takes an answer that was handed over for one that has arrived,
   * and would cut off what a slow client still reads.
   */
  #endIdle(): void {
    for (const socket of this.#idleByNode())
      if (!this.#connections.get(socket)?.open.length) endGently(socket);
  }

  /**
   * Cuts every connection; Node's own method leaves those alone that were upgraded, such as WebSockets.
   *
   * @returns whether all answers had been sent
   */
  #cut(): boolean {
    const rest = [...this.#connections];
    for (const [socket] of rest) socket.destroy();
    return rest.every(([socket, { open }]) => socket.writableFinished && open.length === 0);
  }

  /** Node tells nobody which connections are idle; it only destroys them. */
  #idleByNode(): readonly Socket[] {
    const idle: Socket[] = [];
    for (const socket of this.#connections.keys()) {
      socket.destroy = () => {
        idle.push(socket);
        return socket;
      };
    }
    this.#server.closeIdleConnections();
    for (const socket of this.#connections.keys()) Reflect.deleteProperty(socket, 'destroy');
    return idle;
  }
}

/**
 * Node reads on while the answers that wait for their turn are few bytes. A request without an answer weighs nothing there, so a
 * client that pipelines could take all memory. Here it weighs as much as makes `MAX_OPEN` of them too many. Node's own
 * switch is used, because the beginning of a body and the end of an answer move it, too.
 */
function weigh(response: ServerResponse, sign: 1 | -1): void {
  const { socket } = response.req;
  if (!socket.destroyed) addPendingBytes(response, sign * Math.ceil(socket.writableHighWaterMark / MAX_OPEN));
}

/** Lets a connection end with a response. */
function endAfter(connection: ServedConnection, response: ServerResponse): void {
  const { socket } = response.req;
  connection.last = response;
  if (!response.headersSent) response.setHeader('Connection', 'close');
  // Node calls this after an answer that says so.
  socket.destroySoon = () => endGently(socket);
  response.once('close', () => {
    if (connection.last === response) endGently(socket);
  });
}

/** Node tells a response that its connection is gone only when it is that response's turn. */
function abandon({ open }: ServedConnection): void {
  for (const response of open) {
    if (response.socket !== null) continue;
    response.destroy();
    response.emit('close');
  }
}

/**
 * Ends a connection so that all that was written arrives. Closing it while the client still sends would reset it, and
 * lose what is under way (RFC 9112, 9.6), so what comes is read and thrown away.
 */
function endGently(socket: Socket): void {
  if (socket.writableEnded || socket.destroyed) return;
  socket.end();
  // Not by the parser of HTTP, which would make requests of it.
  socket.removeAllListeners('data').on('data', () => {});
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}
