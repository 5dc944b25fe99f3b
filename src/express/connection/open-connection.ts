/** Requests of one connection, until their answers are sent: they are executed while the client takes the answers. */
import { AsyncResource } from 'node:async_hooks';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express, NextFunction, Request, Response } from 'express';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { addPendingBytes, keepAnswersYoung, pendingBytes } from '../../request/node-internals.js';
import { SAFE_METHODS } from '../../request/request-sessions.js';
import { toProblem } from '../../respond/problem.js';
import { logFailure, sendProblem } from '../../respond/send-problem.js';
import { perPair } from '../../util/memo.js';
import { HEAP_LIMIT, hasRoom, isWithin, takeBytes } from '../../util/memory-budget.js';
import { executeInTurn, expectArrivals } from './short-turns.js';

/** Requests that are under way on one connection at once. Those that arrive with them wait, and no more are read. */
const MAX_OPEN = 64;
/** Requests of all connections beside which only the first ones of connections are executed. */
const MAX_EXECUTING = 256;
/** Requests of all connections that wait. Node has read them already: each takes some kilobytes. */
const MAX_WAITING = Math.floor(HEAP_LIMIT / 8_192);
/** Bytes that the client of one connection has not taken. Its next requests wait until there are fewer. */
const MAX_UNSENT = 1024 * 1024;
/** Bytes of an answer that is small: so many as are under way at once are within the limit. */
const SMALL = MAX_UNSENT / MAX_OPEN;
/** The part of the process's budget for connections over their limit. The rest is for others. */
const SHARE = 0.5;

/** Bytes of the largest answer of a server: any of its requests under way may have such a one. */
interface Sizes {
  largest: number;
}

const sizesOf = perPair((_server: object): Sizes => ({ largest: SMALL }));

/** Requests that are executed, or whose answers are being sent. Those that rest are left out. */
let executing = 0;
/** Requests that wait for those before them on their connections. */
let waiting = 0;

const CONNECTION = Symbol('connection');

/** A property: each request reads it several times. */
interface ConnectedSocket extends Socket {
  [CONNECTION]?: OpenConnection;
}

/** The connection of a socket. */
export function connectionOf(socket: ConnectedSocket): OpenConnection {
  socket[CONNECTION] ??= new OpenConnection(socket);
  return socket[CONNECTION];
}

/**
 * Executes the request of a response when its connection has room for the answer. One that was admitted before is executed at
 * once, and so is a request that no server of Node has read.
 */
export function admit(response: ServerResponse, run: () => void): void {
  const socket: unknown = response.req?.socket;
  if (response instanceof ServerResponse && socket instanceof Socket)
    connectionOf(socket).admit(response, run);
  else run();
}

/** Responses that wait for events, and use no time of the process meanwhile. */
const resting = new WeakSet<ServerResponse>();

/** Counts a response as executed no more, so that many streams do not delay the requests of others. */
export function rest(response: ServerResponse): void {
  const socket: ConnectedSocket | null | undefined = response.req?.socket;
  socket?.[CONNECTION]?.rest(response);
}

/** Express calls this for each request of any server. */
interface Handling {
  handle(request: Request, response: Response, next?: NextFunction): void;
}

const ADMITTING = new WeakSet<Express>();

/** Makes an application admit its requests, also for routes that were added before. A layer of Express would cost more. */
export function admitRequests(app: Express): void {
  const handling = app as unknown as Handling;
  if (ADMITTING.has(app)) return;
  ADMITTING.add(app);
  const { handle } = handling;
  handling.handle = (request, response, next) =>
    admit(response, () => void Reflect.apply(handle, app, [request, response, next]));
}

/** Does the same for a router that is mounted anywhere, as its first layer. */
export function admitThenGoOn(request: Request, response: Response, next: NextFunction): void {
  admit(response, () => next(mustRefuse(request) ? refusal() : undefined));
}

/** A connection, and the requests that are under way on it. */
export class OpenConnection {
  /**
   * The responses that are not sent, in the order of their requests. An array, because the tables that a Set leaves behind keep
   * responses that are long over from the young generation of the garbage collector.
   */
  readonly open: ServerResponse[] = [];
  /** The response after which the connection ends. */
  last: ServerResponse | null = null;
  readonly sizes: Sizes;
  readonly #socket: Socket;
  /** The executions of the last open responses, which wait for those before. */
  readonly #waiting: (() => void)[] = [];
  /** Bytes of answers that are ready and not taken. */
  #unsent = 0;

  constructor(socket: Socket) {
    keepAnswersYoung();
    expectArrivals();
    this.#socket = socket;
    // Node says which server has accepted a connection.
    this.sizes = sizesOf((socket as { readonly server?: object }).server ?? socket);
    // Not by `once`: where all of its records live long, V8 allocates those of responses in the old generation, too.
    socket.on('close', () => this.#abandon());
  }

  admit(response: ServerResponse, run: () => void): void {
    const { open } = this;
    if (open.length > 0 && this.#executed().includes(response)) {
      run();
      return;
    }
    if (this.#socket.destroyed) return;
    const mustWait = this.#waiting.length > 0 || !this.#isFree(response);
    open.push(response);
    if (open.length > 1) weigh(response, 1);
    response.on('close', finish);
    countEnd(response);
    if (mustWait) {
      // The async context is that of its own arrival, and not that of the request whose end it waits for.
      const context = new AsyncResource('crud-controllers:request');
      this.#waiting.push(() => context.runInAsyncScope(run));
      waiting += 1;
      // Only the end of a connection frees the bytes that Node has read of it.
      if (waiting > MAX_WAITING) this.#socket.destroy();
      return;
    }
    executing += 1;
    executeInTurn(executing, this.#socket, run);
  }

  /** Called when the response has been sent, or the connection is gone. */
  finish(response: ServerResponse): void {
    const { open } = this;
    const position = open.indexOf(response);
    if (position < 0) return;
    const rank = position - open.length + this.#waiting.length;
    if (rank < 0) executing -= 1;
    else waiting -= this.#waiting.splice(rank, 1).length;
    if (open.length > 1) {
      open.splice(position, 1);
      weigh(response, -1);
    } else open.pop();
    if (open.length > 0 || this.#unsent > 0) this.ended();
  }

  /** The end of such a response is counted here: in `finish` each one would have to be looked up. */
  rest(response: ServerResponse): void {
    if (resting.has(response) || !this.#executed().includes(response)) return;
    resting.add(response);
    executing -= 1;
    response.prependOnceListener('close', () => {
      executing += 1;
    });
  }

  /** An answer of so many bytes may be sent. */
  hasRoom(bytes: number): boolean {
    return hasRoom(bytes, this.#unsent > MAX_UNSENT ? SHARE : 1);
  }

  /** An answer is ready, or has been sent. */
  ended(): void {
    const bytes = this.#socket.destroyed ? 0 : this.#unsentNow();
    takeBytes(bytes - this.#unsent);
    this.#unsent = bytes;
    if (bytes > 0 && this.open[0]?.writableEnded) expectProgress(this.#socket);
    else expectNothing(this.#socket);
    while (this.#waiting.length > 0 && this.#isFree(this.open.at(-this.#waiting.length) as ServerResponse)) {
      const run = this.#waiting.shift();
      waiting -= 1;
      executing += 1;
      run?.();
    }
  }

  /** The open responses whose requests do not wait. */
  #executed(): readonly ServerResponse[] {
    return this.#waiting.length === 0 ? this.open : this.open.slice(0, -this.#waiting.length);
  }

  /** The next request may be executed beside those that are. Requests run at the same time only where all are safe (RFC 9112, 9.3.2). */
  #isFree(next: ServerResponse): boolean {
    if (this.#socket.destroyed) return false;
    const count = this.open.length - this.#waiting.length;
    if (count === 0) return true;
    // One that may write is executed alone, so that it is the first.
    if (!isSafe(next.req) || !isSafe((this.open[0] as ServerResponse).req)) return false;
    const { largest } = this.sizes;
    if (count >= MAX_OPEN || executing >= MAX_EXECUTING || !isWithin(executing * largest)) return false;
    let bytes = this.#unsent + largest;
    for (const { writableEnded } of this.#executed()) if (!writableEnded) bytes += largest;
    return bytes <= MAX_UNSENT;
  }

  #unsentNow(): number {
    let bytes = 0;
    // The length of the first response includes the bytes of the socket.
    for (const { writableEnded, writableLength } of this.#executed())
      if (writableEnded) bytes += writableLength;
    return bytes;
  }

  /** Node before 24 makes a response end with its connection only when it is that response's turn. */
  #abandon(): void {
    for (const response of [...this.open]) {
      if (response.socket !== null) continue;
      let isClosed = false;
      response.prependOnceListener('close', () => {
        isClosed = true;
      });
      response.destroy();
      // The event of Node 24 comes in the next tick, which is before this one.
      process.nextTick(() => isClosed || response.emit('close'));
    }
    this.ended();
  }
}

function isSafe({ method }: IncomingMessage): boolean {
  return SAFE_METHODS.has(method ?? '');
}

function finish(this: ServerResponse): void {
  connectionOf(this.req.socket).finish(this);
}

/** Any of the ways in which `end` is called. */
type End = (this: ServerResponse, ...given: unknown[]) => ServerResponse;

/** Counts the unsent bytes of an answer when it is ready. */
function countEnd(response: ServerResponse): void {
  const own = Object.hasOwn(response, 'end') ? (response.end as End) : null;
  response.end = own === null ? endInherited : (...given: unknown[]) => endCounted(response, own, given);
}

function endInherited(this: ServerResponse, ...given: unknown[]): ServerResponse {
  return endCounted(this, Object.getPrototypeOf(this).end, given);
}

/** Responses that send a problem instead of an answer. The application shapes it. */
const refused = new WeakSet<ServerResponse>();

/** In the place of a large answer for which there is no room, it sends a problem. The work of a write is not denied. */
function endCounted(response: ServerResponse, end: End, given: unknown[]): ServerResponse {
  const connection = connectionOf(response.req.socket);
  const { sizes } = connection;
  const [chunk, encoding] = given;
  if ((typeof chunk === 'string' || chunk instanceof Uint8Array) && chunk.length > SMALL) {
    if (
      isSafe(response.req) &&
      !response.headersSent &&
      !refused.has(response) &&
      !connection.hasRoom(chunk.length)
    ) {
      refused.add(response);
      refuseAnswer(response);
      return response;
    }
    sizes.largest = Math.max(sizes.largest, chunk.length);
    // A text that waits for its turn would be in V8's heap.
    if (response.socket === null && typeof chunk === 'string') {
      given[0] = Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
    }
  }
  Reflect.apply(end, response, given);
  const { writableLength } = response;
  if (writableLength > sizes.largest) sizes.largest = writableLength;
  if (writableLength > 0 || connection.open.length > 1) connection.ended();
  return response;
}

/**
 * Node reads on while the answers that wait for their turn are few bytes. A request without an answer weighs nothing there, so a
 * client that pipelines could take all memory. Here each beside the first weighs as much as makes `MAX_OPEN` of them too many. Node's own
 * switch is used, because the beginning of a body and the end of an answer move it, too.
 */
function weigh(response: ServerResponse, sign: 1 | -1): void {
  const { socket } = response.req;
  if (!socket.destroyed)
    addPendingBytes(response, sign * Math.ceil(socket.writableHighWaterMark / (MAX_OPEN - 1)));
}

/** Text of the refusal. */
const NO_ROOM = 'Clients have not taken too many answers; try again.';

/** An error for a request that the process has no room to answer. */
export function refusal(): RefusedRequestError {
  return new RefusedRequestError(503, NO_ROOM, { 'Retry-After': '1' });
}

/** Answers 503. The head of the answer must not have been sent. */
function refuseAnswer(response: ServerResponse): void {
  // Requests of Node's own server that are no Express requests reach only listeners of the user's.
  const { req: request } = response as Response;
  const error = refusal();
  for (const name of ['ETag', 'Last-Modified', 'Cache-Control']) response.removeHeader(name);
  if ('app' in request) logFailure(request as Request, 503, error);
  sendProblem(request as Request, response as Response, toProblem(error));
}

/** A request that may write is not executed where its answer may have no room: afterwards it could not be refused. */
export function mustRefuse(request: IncomingMessage): boolean {
  return !isSafe(request) && !hasRoom(0);
}

/** Milliseconds in which a client has to take something of its answers. */
const PATIENCE = 60_000;
/** Milliseconds between two checks. */
const STEP = 5_000;

/** The last change of the bytes that wait for a client. */
interface Progress {
  bytes: number;
  at: number;
}

/** Sockets whose clients have something to take: a connection whose client takes nothing is ended, so that others have its memory. */
const taking = new Map<Socket, Progress>();
let timer: NodeJS.Timeout | undefined;

/** Expects the client to take something. The time begins again with all that it takes. */
function expectProgress(socket: Socket): void {
  if (taking.has(socket)) return;
  taking.set(socket, { bytes: pendingBytes(socket), at: performance.now() });
  timer ??= setInterval(() => endSilent(performance.now()), STEP).unref();
}

/** The client has taken all, or it is the server's turn. */
function expectNothing(socket: Socket): void {
  taking.delete(socket);
}

/** Ends the connections of those that have taken nothing for too long. */
export function endSilent(now: number): void {
  for (const [socket, progress] of taking) {
    const bytes = pendingBytes(socket);
    if (bytes !== progress.bytes) taking.set(socket, { bytes, at: now });
    else if (now - progress.at >= PATIENCE) socket.destroy();
  }
  if (taking.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}
