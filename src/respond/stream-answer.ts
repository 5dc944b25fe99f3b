/** A stream that a method has returned, as an answer: it is whole, or a problem, or visibly cut. */
import { finished } from 'node:stream';
import type { Response } from 'express';
import { isBytesOrStream, JsonAnswer } from './json-answer.js';

/** Parts of a stream. Old ones lack some, and so does another object with `pipe`. */
export interface Source {
  pipe(target: Response): unknown;
  unpipe?(target: Response): unknown;
  on?(event: 'error', listener: () => void): unknown;
  destroy?(): unknown;
}

/** True for a stream of the user's. */
export function isStream(value: unknown): value is Source {
  const isOther = value instanceof Uint8Array || value instanceof JsonAnswer || value instanceof StreamAnswer;
  return isBytesOrStream(value) && !isOther;
}

/**
 * Ends a stream with its response, also one that is never read. It may fail before it is: an error that no listener hears ends the
 * process.
 */
export function bindStream(value: unknown, response: Response): void {
  // A response has a method `pipe`, which fails.
  if (value === response || !isStream(value)) return;
  value.on?.('error', () => {});
  const end = (): void => void value.destroy?.();
  if (response.destroyed) end();
  else response.once('close', end);
}

/** An answer with the bytes of a stream. routing-controllers hands the response to it, as to a `JsonAnswer`. */
export class StreamAnswer {
  /** @param fail called once, where the stream fails, or its bytes cannot be written; not where the client has gone */
  constructor(
    private readonly source: Source,
    private readonly fail: (error: unknown) => void,
  ) {}

  pipe(response: Response): void {
    const { source } = this;
    const { write, end } = response;
    let isOver = false;
    const stop = (): void => {
      isOver = true;
      Object.assign(response, { write, end });
      source.unpipe?.(response);
      source.destroy?.();
    };
    const fail = (error: unknown): void => {
      if (isOver) return;
      stop();
      this.fail(error);
    };
    // An error that is thrown into the stream ends the process, as of a hook of a middleware.
    const guarded =
      (method: (...values: never[]) => unknown) =>
      (...values: unknown[]): unknown => {
        if (response.writableEnded) {
          stop();
          return true;
        }
        try {
          if (method === write) checkChunk(values[0]);
          return Reflect.apply(method, response, values);
        } catch (error) {
          fail(error);
          return true;
        }
      };
    Object.assign(response, { write: guarded(write), end: guarded(end) });
    bindStream(source, response);
    if (typeof source.on === 'function') {
      finished(source as unknown as NodeJS.ReadableStream, { writable: false }, (error) => {
        if (error && !response.destroyed) fail(error);
      });
    }
    try {
      source.pipe(response);
    } catch (error) {
      fail(error);
    }
  }
}

function checkChunk(chunk: unknown): void {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return;
  throw new TypeError(
    `A stream that a method returned has a chunk of type ${typeof chunk}; make a text or bytes of each, such as a line of JSON.`,
  );
}
