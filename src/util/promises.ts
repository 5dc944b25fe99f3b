/** Values that may be promises, of which no caller waits without need, and promises that are awaited for a time. */

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
 * @throws what the work fails with within the time
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
