/** Values that may be promises, promises that are awaited for a time, and promises without await. */
import { describeError } from './describe-error.js';
import { defaultLogger, type Logger } from './logger.js';

/** A value, or a promise of it. */
export type Maybe<T> = T | Promise<T>;

/** True for a value that has to be awaited. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Waits only where there is a promise. */
export function all<T>(values: readonly Maybe<T>[]): Maybe<readonly T[]> {
  return values.some(isPromise) ? Promise.all(values) : (values as readonly T[]);
}

/** Goes on at once where there is no promise. */
export function then<T, R>(value: Maybe<T>, next: (value: T) => Maybe<R>): Maybe<R> {
  return isPromise(value) ? (value as Promise<T>).then(next) : next(value as T);
}

/** Runs work once at a time: a call while it is under way gets the result of that. */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}

/**
 * True where work ends within so many milliseconds; its later result is ignored.
 *
 * @throws the error that the work fails with within the time
 */
export async function endsInTime(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

const expected = new WeakMap<object, Logger>();
let isListening = false;

/**
 * The same error, of work that a request began without await. Node would end the process for it, and all requests with it; the
 * logger gets it instead.
 */
export function survivable<E extends object>(error: E, logger: Logger = defaultLogger): E {
  expected.set(error, logger);
  if (!isListening) process.on('unhandledRejection', judge);
  isListening = true;
  return error;
}

function judge(reason: unknown): void {
  const logger = typeof reason === 'object' && reason !== null ? expected.get(reason) : undefined;
  if (logger) logger.error('A promise that nothing awaited was rejected', describeError(reason));
  // Node ends the process where there is no listener. Another listener decides by itself.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason;
}
