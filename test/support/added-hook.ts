/** Hooks that a model or an instance of Sequelize has until the end of a block. */

interface Hooked {
  addHook(name: string, key: string, hook: unknown): unknown;
  removeHook(name: string, key: string): unknown;
}

let count = 0;

/** @example `using _hook = addedHook(Payment, 'afterCreate', () => {…});` */
export function addedHook<R extends object>(
  target: object,
  name: string | readonly string[],
  hook: (record: R, options: never) => unknown = () => {},
): Disposable {
  const hooked = target as Hooked;
  const names = [name].flat();
  count += 1;
  const key = `of the test ${count}`;
  for (const each of names) hooked.addHook(each, key, hook);
  return {
    [Symbol.dispose]() {
      for (const each of names) hooked.removeHook(each, key);
    },
  };
}
