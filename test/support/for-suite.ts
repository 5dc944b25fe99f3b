/** Things of a suite, from before its first test until after its last one. */
import { after, before } from 'mocha';

/** Things that are there, by the suite that has them. */
const held = new WeakMap<object, AsyncDisposable[]>();

/**
 * Starts something before the tests of a suite, and ends it after them. All things of a suite end in the same hook, the latest
 * first. Its members are there for tests and hooks.
 */
export function forSuite<T extends AsyncDisposable>(start: () => T | Promise<T>): T {
  let started: T | undefined;
  before(async function () {
    started = await start();
    const suite = this.test?.parent ?? this;
    held.set(suite, [...(held.get(suite) ?? []), started]);
  });
  after(async function () {
    const suite = this.test?.parent ?? this;
    const all = held.get(suite) ?? [];
    held.delete(suite);
    for (const each of all.reverse()) await each[Symbol.asyncDispose]();
  });
  return new Proxy({} as T, {
    get(_, name) {
      if (!started) throw new Error('What a suite has is there for its tests and hooks.');
      const value: unknown = Reflect.get(started, name, started);
      // A method needs its object. An application of Express is a function, and no method.
      return typeof value === 'function' && !Object.hasOwn(started, name) ? value.bind(started) : value;
    },
  });
}
