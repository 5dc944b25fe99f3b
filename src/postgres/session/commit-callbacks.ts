/** Runs callbacks after a commit in the background. Only the end of the engine waits for them. */
import type { Sequelize } from 'sequelize';
import { describeError } from '../../util/describe-error.js';
import type { Logger } from '../../util/logger.js';
import { keptIn } from '../../util/memo.js';
import { endsInTime, isPromise } from '../../util/promises.js';

/** Milliseconds after which those behind a callback no longer wait for it. */
const PATIENCE = 5_000;

type Callback = () => unknown;

/** Callbacks under way, by the instance of the engine that waits for them. */
const underWay = new WeakMap<Sequelize, Set<Promise<void>>>();

/**
 * Starts callbacks in their order, each when the one before it has ended, or has taken too long. Returns at once: the
 * commit has happened, whatever becomes of them.
 *
 * @param patience milliseconds
 */
export function runCallbacks(
  sequelize: Sequelize,
  callbacks: readonly Callback[],
  logger: Logger,
  patience = PATIENCE,
): void {
  if (callbacks.length === 0) return;
  const known = keptIn(underWay, sequelize, () => new Set());
  const run = runInOrder(callbacks, logger, patience).finally(() => known.delete(run));
  known.add(run);
}

/** Resolves when the callbacks of an instance have ended, or have taken too long; undefined when there are none. */
export function callbacksUnderWay(sequelize: Sequelize): Promise<unknown> | undefined {
  const known = underWay.get(sequelize);
  return known?.size ? Promise.all(known) : undefined;
}

/** Callbacks without a promise have all run when this returns, as far as none with one is before them. */
async function runInOrder(callbacks: readonly Callback[], logger: Logger, patience: number): Promise<void> {
  for (const callback of callbacks) {
    const ended = start(callback, logger);
    if (!ended || (await endsInTime(ended, patience))) continue;
    const error = `not ended in ${patience} ms`;
    logger.error('A callback after a commit takes long; those behind it go on', { error });
  }
}

/** Starts a callback; returns a promise, which never rejects, where it has not ended then. */
function start(callback: Callback, logger: Logger): Promise<void> | undefined {
  const fail = (error: unknown): void =>
    logger.error('A callback after a commit failed', describeError(error));
  try {
    const ended = callback();
    return isPromise(ended) ? Promise.resolve(ended).then(() => {}, fail) : undefined;
  } catch (error) {
    fail(error);
    return undefined;
  }
}
