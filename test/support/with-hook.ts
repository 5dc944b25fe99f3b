/** A hook for as long as some work runs. */

/** What has hooks: a model, or an instance of Sequelize. */
interface Hooked {
  addHook(...args: unknown[]): unknown;
  removeHook(...args: unknown[]): unknown;
}

/** Adds a hook of the user's, and takes it away when the work has ended, whatever becomes of it. */
export async function withHook<R>(
  target: object,
  name: string,
  hook: (...subject: never[]) => unknown,
  work: () => PromiseLike<R>,
): Promise<R> {
  const hooked = target as Hooked;
  hooked.addHook(name, 'of a test', hook);
  try {
    return await work();
  } finally {
    hooked.removeHook(name, 'of a test');
  }
}
