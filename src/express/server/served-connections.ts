/** The connections of a server and the requests under way on them, so that they can end without losing an answer. */
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { narrowQueue } from '../../request/node-internals.js';
import { endsInTime } from '../../util/promises.js';
import { connectionOf, type OpenConnection } from '../connection/open-connection.js';

/** Milliseconds that a client gets to close its side after the server has closed its own. */
const LINGER = 1_000;

/** Milliseconds that a server which is to be closed goes on accepting, at most. */
const MAX_WAIT = 1_000;
/** Turns of the event loop in which it goes on at least. */
const TURNS = 3;

/** Requests and connections that the server has cut off, because they took too long. */
export interface CutOff {
  readonly requests: readonly ServerResponse[];
  /** Number of connections without a request: nothing was sent on them, or half of a request, or they were upgraded. */
  readonly connections: number;
}

/** The connections of one server, those too that are no longer HTTP. */
export class ServedConnections {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isSweepDue = false;
  #accepted = 0;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#accepted += 1;
      this.#sockets.add(socket);
      // Not by `once`, as in `OpenConnection`.
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** A request has been read, which the application will admit. */
  begin(response: ServerResponse): void {
    if (!this.#server.listening) response.once('close', this.#sweep);
  }

  /** Ends the connections that have nothing under way any more. */
  readonly #sweep = (): void => {
    if (this.#isSweepDue) return;
    this.#isSweepDue = true;
    setImmediate(() => {
      this.#isSweepDue = false;
      this.#endIdle();
    });
  };

  /**
   * Lets the connection end with the last response, which alone has `Connection: close`. Clients that pipeline have sent
   * the next requests already. These are answered too, until the server has stopped listening: then a connection ends
   * with the first response that has the header.
   *
   * @returns true where the request may be executed; else it came after the last one, and cannot be answered
   */
  endWith(response: ServerResponse): boolean {
    const connection = connectionOf(response.req.socket);
    const { last } = connection;
    if (last && (last.headersSent || !this.#server.listening)) return false;
    last?.removeHeader('Connection');
    endAfter(connection, response);
    return true;
  }

  /** Lets the connections on which something is under way end with it, as far as an answer can still say so. */
  announceEnd(): void {
    for (const connection of this.#all()) {
      const response = connection.open.at(-1);
      const isTold = connection.last !== null || (response?.headersSent && this.#server.listening);
      if (response && !isTold) endAfter(connection, response);
    }
  }

  get open(): readonly ServerResponse[] {
    return this.#all().flatMap(({ open }) => open);
  }

  /**
   * Closes the server: accepts no connection any more, ends the idle ones, and the others after their requests.
   *
   * @param timeout milliseconds after which the rest is cut off
   */
  async close(timeout: number): Promise<CutOff> {
    await this.#acceptWaiting(Math.min(timeout, MAX_WAIT));
    const closed = once(this.#server, 'close');
    // HTTP's own method would also end the connections that it takes for idle, and it is wrong about some.
    TcpServer.prototype.close.call(this.#server);
    for (const response of this.open) response.once('close', this.#sweep);
    this.announceEnd();
    this.#endIdle();
    const wasClean = await endsInTime(closed, timeout);
    const rest = this.#cut();
    await closed;
    return wasClean ? { requests: [], connections: 0 } : rest;
  }

  /**
   * Accepts the connections and reads the requests that the system has received before this process does. Closing the server would
   * reset the first, and ending a connection would lose the others.
   */
  async #acceptWaiting(timeout: number): Promise<void> {
    const end = performance.now() + timeout;
    narrowQueue(this.#server);
    // Node accepts as little as one in each turn of the event loop.
    for (let turn = 1; performance.now() < end; turn += 1) {
      const before = this.#accepted;
      await nextTurn();
      if (turn > TURNS && this.#accepted === before) return;
    }
  }

  /**
   * Ends the connections on which nothing is under way. Node takes an answer that was handed over for one that has arrived,
   * and would cut off an answer that a slow client still reads.
   */
  #endIdle(): void {
    for (const socket of this.#idleByNode()) if (connectionOf(socket).open.length === 0) endGently(socket);
  }

  #all(): OpenConnection[] {
    return [...this.#sockets].map(connectionOf);
  }

  /** Cuts every connection; Node's own method leaves those alone that were upgraded, such as WebSockets. */
  #cut(): CutOff {
    const rest = [...this.#sockets].map((socket) => ({ socket, open: [...connectionOf(socket).open] }));
    const silent = rest.filter(({ socket, open }) => open.length === 0 && !socket.writableFinished);
    for (const { socket } of rest) socket.destroy();
    return { requests: rest.flatMap(({ open }) => open), connections: silent.length };
  }

  /** Node has no list of idle connections; it only destroys them. */
  #idleByNode(): readonly Socket[] {
    const idle: Socket[] = [];
    for (const socket of this.#sockets) {
      socket.destroy = () => {
        idle.push(socket);
        return socket;
      };
    }
    this.#server.closeIdleConnections();
    for (const socket of this.#sockets) Reflect.deleteProperty(socket, 'destroy');
    return idle;
  }
}

function endAfter(connection: OpenConnection, response: ServerResponse): void {
  const { socket } = response.req;
  connection.last = response;
  if (!response.headersSent) response.setHeader('Connection', 'close');
  // Node calls this after an answer that says so.
  socket.destroySoon = () => endGently(socket);
  response.once('close', () => {
    if (connection.last === response) endGently(socket);
  });
}

/**
 * Ends a connection so that all that was written arrives. Closing it while the client still sends would reset it, and
 * lose answers under way (RFC 9112, 9.6), so more bytes are read and thrown away.
 */
function endGently(socket: Socket): void {
  if (socket.writableEnded || socket.destroyed) return;
  socket.end();
  // The parser of HTTP must not read it, because it would make requests of it.
  socket.removeAllListeners('data').on('data', () => {});
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}
