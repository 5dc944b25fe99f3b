/** The current engine: what the process is connected to. */
import type { Sequelize } from 'sequelize';
import { ConfigError } from '../plan/config-error.js';

/** Connections to the back ends. Closing it closes them. */
export interface Engine extends AsyncDisposable {
  readonly sequelize: Sequelize;
}

let current: Engine | null = null;

/**
 * Tells the library about a Sequelize instance you made yourself. The instance stays yours: disposing the engine does
 * not close it. `engineLifespan` makes and owns one instead.
 *
 * @example
 * ```ts
 * configureEngine({ sequelize });
 * ```
 * @throws ConfigError when an engine is configured already
 */
export function configureEngine({ sequelize }: { sequelize: Sequelize }): Engine {
  return setCurrentEngine({ sequelize, [Symbol.asyncDispose]: async () => {} });
}

/** Makes `engine` the current one until it is disposed. @internal */
export function setCurrentEngine(engine: Engine): Engine {
  if (current) throw new ConfigError(['An engine is configured already; call disposeEngine() first.']);
  const owned: Engine = {
    ...engine,
    [Symbol.asyncDispose]: async () => {
      if (current === owned) current = null;
      await engine[Symbol.asyncDispose]();
    },
  };
  current = owned;
  return owned;
}

/**
 * The engine in use.
 *
 * @example
 * ```ts
 * const [rows] = await currentEngine().sequelize.query('SELECT version()');
 * ```
 * @throws ConfigError when none is configured
 */
export function currentEngine(): Engine {
  if (!current) {
    throw new ConfigError([
      'No engine is configured; call engineLifespan(dsn)(app) or configureEngine({ sequelize }) first.',
    ]);
  }
  return current;
}

/**
 * Closes the current engine. Does nothing when there is none, so that it can be called twice.
 *
 * @example
 * ```ts
 * process.once('SIGTERM', () => server.close(() => disposeEngine()));
 * ```
 */
export async function disposeEngine(): Promise<void> {
  await current?.[Symbol.asyncDispose]();
}
