/** `engineLifespan`: connects when an application starts, and disconnects when it ends. */
import type { Express } from 'express';
import { Sequelize, type SequelizeOptions } from 'sequelize-typescript';
import type { ModelClass } from '../metadata/crud-options.js';
import { crudRecords } from '../metadata/registry.js';
import { ConfigError } from '../plan/config-error.js';
import { type Engine, setCurrentEngine } from './engine.js';

/** Options of `engineLifespan`. What is not named here goes to Sequelize as it is (`pool`, `logging`, …). */
export interface EngineOptions extends Omit<SequelizeOptions, 'models'> {
  /** Model classes, or paths that sequelize-typescript loads them from. Default: every `@Crud` class. */
  models?: readonly (ModelClass | string)[];
  /** Creates the tables and indexes that do not exist before the promise resolves. Never changes one. Default: false. */
  createAll?: boolean;
}

/** Waiting at most this long, in milliseconds, so that no request hangs. The order matters: lock < statement < query. */
const TIMEOUTS = Object.freeze({
  connectionTimeoutMillis: 3_000,
  lock_timeout: 2_000,
  statement_timeout: 5_000,
  query_timeout: 6_000,
  idle_in_transaction_session_timeout: 10_000,
});
const POOL = Object.freeze({ max: 10, acquire: 5_000 });

/**
 * Prepares a connection to PostgreSQL. The result, called with the application or without, connects and gives the
 * engine; disposing the engine disconnects.
 *
 * Times out by default: connecting 3 s, waiting for a pooled connection 5 s, a lock 2 s, a statement 5 s, a query
 * 6 s, an idle transaction 10 s. `dialectOptions` and `pool` change single values and keep the others.
 *
 * @example
 * ```ts
 * await using engine = await engineLifespan(process.env.DATABASE_URL, { models: [City], createAll: true })(app);
 * await bootstrap(app);
 * ```
 * @throws ConfigError for a malformed DSN, and when the server cannot be reached, refuses the credentials or has no such
 * database. The message never holds the password.
 */
export function engineLifespan(dsn: string, options: EngineOptions = {}): (app?: Express) => Promise<Engine> {
  return async () => {
    const sequelize = createSequelize(dsn, options);
    try {
      await connect(sequelize, dsn);
      if (options.createAll) await sequelize.sync();
      return setCurrentEngine({ sequelize, [Symbol.asyncDispose]: () => sequelize.close() });
    } catch (error) {
      await sequelize.close();
      throw error;
    }
  };
}

function createSequelize(dsn: string, options: EngineOptions): Sequelize {
  const { models = crudRecords().map(({ model }) => model), createAll: _, ...forwarded } = options;
  checkDsn(dsn);
  const sequelize = new Sequelize(dsn, {
    dialect: 'postgres',
    logging: false,
    ...forwarded,
    pool: { ...POOL, ...forwarded.pool },
    dialectOptions: { keepAlive: true, ...TIMEOUTS, ...forwarded.dialectOptions },
  });
  // sequelize-typescript types models as its own subclass of Sequelize's Model; at run time both are accepted.
  sequelize.addModels([...new Set(models)] as unknown as Parameters<Sequelize['addModels']>[0] & string[]);
  return sequelize;
}

/** Names the parts of a DSN that may be shown. */
function checkDsn(dsn: string): URL {
  const example = 'use one such as postgres://user:password@host:5432/database';
  if (typeof dsn !== 'string' || dsn === '')
    throw new ConfigError([`The DSN is ${dsn === '' ? 'empty' : typeof dsn}; ${example}.`]);
  const url = parseUrl(dsn);
  if (!url) throw new ConfigError([`The DSN is not a URL; ${example}.`]);
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:') {
    throw new ConfigError([`The DSN begins with '${url.protocol}'; ${example}.`]);
  }
  return url;
}

/** Null also for what Sequelize could not decode: a `%` in a password that is not percent-encoded. */
function parseUrl(dsn: string): URL | null {
  try {
    const url = new URL(dsn);
    decodeURIComponent(`${url.username}${url.password}${url.pathname}`);
    return url;
  } catch {
    return null;
  }
}

async function connect(sequelize: Sequelize, dsn: string): Promise<void> {
  try {
    await sequelize.authenticate();
  } catch (error) {
    const { host, pathname, username } = checkDsn(dsn);
    const code = connectionErrorCode(error);
    throw new ConfigError([
      `PostgreSQL at ${host}, database '${pathname.slice(1)}', user '${username}': ${connectionAdvice(code)}.`,
    ]);
  }
}

/** pg gives no code to the error of its own timeout. */
function connectionErrorCode(error: unknown): string {
  const { code, message = '' } = (error as { parent?: { code?: string; message?: string } }).parent ?? {};
  return code ?? (message.includes('timeout') ? 'ETIMEDOUT' : 'unknown');
}

/** A reason and a fix for what usually goes wrong when connecting, by SQLSTATE or system error. */
function connectionAdvice(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there; start the server or correct the port';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host has no address; correct its name';
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
      return 'the server does not answer; correct the host and the port';
    case '28P01':
    case '28000':
      return 'the server refuses the user or the password';
    case '3D000':
      return 'there is no such database; create it or correct its name';
    case '53300':
      return 'the server has no connection left';
    default:
      return `connecting failed (${code})`;
  }
}
