/** A hook that a model or an instance of Sequelize has until the end of a block. */

interface Hooked {
  addHook(name: string, key: string, hook: unknown): unknown;
  removeHook(name: string, key: string): unknown;
}

/** @example `using _hook = addedHook(Payment, 'afterCreate', () => {…});` */
export function addedHook<R extends object>(
  target: object,
  name: string,
  hook: (record: R, options: never) => unknown = () => {},
): Disposable {
  const hooked = target as Hooked;
  count += 1;
  const key = `of the test ${count}`;
  hooked.addHook(name, key, hook);
  return { [Symbol.dispose]: () => void hooked.removeHook(name, key) };
}

let count = 0;
