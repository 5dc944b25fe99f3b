/** A hook for as long as some work runs. */
import { addedHook } from './added-hook.js';

/** Adds a hook of the user's, and takes it away when the work has ended, whatever becomes of it. */
export async function withHook<R>(
  target: object,
  name: string,
  hook: (...subject: never[]) => unknown,
  work: () => PromiseLike<R>,
): Promise<R> {
  using _hook = addedHook(target, name, hook);
  return await work();
}
