/** The engines in use: what the process is connected to. */
import type { Sequelize } from 'sequelize';
import { ConfigError } from '../plan/config-error.js';

/** Connections to the back ends. Closing it closes them. */
export interface Engine extends AsyncDisposable {
  readonly sequelize: Sequelize;
}

/** The engines in use. */
const engines = new Set<Engine>();

/**
 * Tells the library about a Sequelize instance you made yourself. The instance stays yours: disposing the engine does
 * not close it. `engineLifespan` makes and owns one instead.
 *
 * @example
 * ```ts
 * configureEngine({ sequelize });
 * ```
 */
export function configureEngine({ sequelize }: { sequelize: Sequelize }): Engine {
  return registerEngine({ sequelize, [Symbol.asyncDispose]: async () => {} });
}

/** Keeps an engine among those in use until it is disposed, which happens once. @internal */
export function registerEngine(engine: Engine): Engine {
  let disposed: PromiseLike<void> | undefined;
  const registered: Engine = {
    ...engine,
    [Symbol.asyncDispose]: async () => {
      engines.delete(registered);
      disposed ??= engine[Symbol.asyncDispose]();
      await disposed;
    },
  };
  engines.add(registered);
  return registered;
}

/**
 * The engine in use. Where a process has several, each is passed explicitly: `unitOfWork(work, { engine })`.
 *
 * @example
 * ```ts
 * const [rows] = await currentEngine().sequelize.query('SELECT version()');
 * ```
 * @throws ConfigError when none is configured, or several are
 */
export function currentEngine(): Engine {
  const [engine, second] = engines;
  if (engine && !second) return engine;
  throw new ConfigError([
    engine
      ? 'Several engines are configured; pass the one that is meant, as in unitOfWork(work, { engine }).'
      : 'No engine is configured; call engineLifespan(dsn)(app) or configureEngine({ sequelize }) first.',
  ]);
}

/**
 * Closes every engine in use. Does nothing when there is none, so that it can be called twice.
 *
 * @example
 * ```ts
 * process.once('SIGTERM', () => server.close(() => disposeEngine()));
 * ```
 */
export async function disposeEngine(): Promise<void> {
  await Promise.all([...engines].map((engine) => engine[Symbol.asyncDispose]()));
}
