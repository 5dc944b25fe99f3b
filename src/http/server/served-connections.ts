/** The connections of a server and what is under way on them, so that they can end without losing an answer. */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { OpenResponses } from './open-responses.js';

/** Milliseconds that a client gets to close its side after the server has closed its own. */
const LINGER = 1_000;

/** The connections of one server, those too that are no longer HTTP. */
export class ServedConnections {
  readonly #server: Server;
  readonly #open = new OpenResponses();
  readonly #sockets = new Set<Socket>();
  /** The response after which a connection ends. */
  readonly #last = new WeakMap<Socket, ServerResponse>();
  #isSweepDue = false;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#abandon(socket);
      });
    });
  }

  /** A request has been read. */
  begin(response: ServerResponse): void {
    this.#open.add(response);
  }

  /** Its response has been sent, or its connection is gone. */
  finish(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#server.listening || this.#isSweepDue) return;
    this.#isSweepDue = true;
    setImmediate(() => {
      this.#isSweepDue = false;
      this.endIdle();
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
    const { socket } = response.req;
    const last = this.#last.get(socket);
    if (last && (last.headersSent || !this.#server.listening)) return false;
    last?.removeHeader('Connection');
    this.#endAfter(response);
    return true;
  }

  /** Lets the connections on which something is under way end with it, as far as an answer can still say so. */
  announceEnd(): void {
    for (const [socket, response] of this.#open.lastOfEach()) {
      const isTold = this.#last.has(socket) || (response.headersSent && this.#server.listening);
      if (!isTold) this.#endAfter(response);
    }
  }

  /**
   * Ends the connections on which nothing is under way. Node takes an answer that was handed over for one that has arrived,
   * and would cut off what a slow client still reads.
   */
  endIdle(): void {
    const busy = this.#busySockets();
    for (const socket of this.#idleByNode()) if (!busy.has(socket)) endGently(socket);
  }

  /**
   * Cuts every connection; Node's own method leaves those alone that were upgraded, such as WebSockets.
   *
   * @returns whether all answers had been sent
   */
  cut(): boolean {
    const busy = this.#busySockets();
    const rest = [...this.#sockets];
    for (const socket of rest) socket.destroy();
    return rest.every((socket) => socket.writableFinished && !busy.has(socket));
  }

  #busySockets(): ReadonlySet<Socket> {
    return new Set(Array.from(this.#open, ({ req }) => req.socket));
  }

  #endAfter(response: ServerResponse): void {
    const { socket } = response.req;
    this.#last.set(socket, response);
    if (!response.headersSent) response.setHeader('Connection', 'close');
    // Node calls this after an answer that says so.
    socket.destroySoon = () => endGently(socket);
    response.once('close', () => {
      if (this.#last.get(socket) === response) endGently(socket);
    });
  }

  /** Node tells nobody which connections are idle; it only destroys them. */
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

  /** Node tells a response that its connection is gone only when it is that response's turn. */
  #abandon(socket: Socket): void {
    for (const response of [...this.#open]) {
      if (response.req.socket !== socket || response.socket !== null) continue;
      response.destroy();
      response.emit('close');
    }
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
