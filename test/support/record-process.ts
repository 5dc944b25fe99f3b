/** Records the errors that the HTTP servers of a process answer with, and its warnings. */
import { type IncomingMessage, ServerResponse } from 'node:http';

/** An error that a server of the process has answered with. */
export interface ErrorAnswer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly body: string;
}

/** A warning of Node or of a package. */
export interface ProcessWarning {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
}

type Chunk = string | Uint8Array;

/**
 * Records every error answer when it has ended, whatever client sent the request: the server writes all of them.
 * Only a text that is written to the socket itself is not seen.
 */
export function recordAnswers(record: (answer: ErrorAnswer) => void): void {
  const parts = new WeakMap<object, Chunk[]>();
  const { write, end } = ServerResponse.prototype;
  const keep = (response: ServerResponse, chunk: unknown) => {
    if (response.statusCode < 400 || (typeof chunk !== 'string' && !(chunk instanceof Uint8Array))) return;
    const kept = parts.get(response);
    if (kept) kept.push(chunk);
    else parts.set(response, [chunk]);
  };
  ServerResponse.prototype.write = function (this: ServerResponse, ...args: unknown[]) {
    keep(this, args[0]);
    return Reflect.apply(write, this, args);
  } as typeof write;
  ServerResponse.prototype.end = function (this: ServerResponse, ...args: unknown[]) {
    keep(this, args[0]);
    const body = parts.get(this);
    if (body) {
      parts.delete(this);
      record({ ...asked(this.req), status: this.statusCode, body: textOf(body) });
    }
    return Reflect.apply(end, this, args);
  } as typeof end;
}

/** Records every warning. */
export function recordWarnings(record: (warning: ProcessWarning) => void): void {
  process.on('warning', ({ name, message, code }: Error & { code?: string }) =>
    record({ name, message, code }),
  );
}

/** Express changes `url` on the way. */
function asked(request: IncomingMessage & { originalUrl?: string }) {
  return { method: request.method ?? '', url: request.originalUrl ?? request.url ?? '' };
}

function textOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).join('');
}
