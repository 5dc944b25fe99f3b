/** Values that may be promises: without a promise nothing waits. */

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
