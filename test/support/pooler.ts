/** Has the applications of tests reach their databases through PgBouncer in transaction mode when CRUD_TEST_POOLER is `pgbouncer`. */
import type { EngineOptions } from '../../src/index.js';
import { type PgBouncer, startPgBouncer } from './pgbouncer.js';
import { execute } from './postgres.js';

/** True where the tests use a pooler. */
export const IS_POOLED = process.env['CRUD_TEST_POOLER'] === 'pgbouncer';

/** Replacements for the options of an application. */
interface Pooled {
  readonly url: string;
  readonly engine: EngineOptions;
}

/** As the README has it. */
const SETTINGS = {
  ignore_startup_parameters: 'lock_timeout, statement_timeout, idle_in_transaction_session_timeout, options',
  max_client_conn: 1_000,
};
/** Timeouts of an engine, which PgBouncer drops. */
const TIMEOUTS = {
  lock_timeout: 2_000,
  statement_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
};

let pooler: PgBouncer | undefined;
let server = '';

/** Starts it in front of the server of the tests, where it is wanted. */
export async function startPooler(serverUrl: string): Promise<void> {
  if (!IS_POOLED) return;
  server = serverUrl;
  pooler = await startPgBouncer(serverUrl, SETTINGS);
}

/** Stops it. */
export async function stopPooler(): Promise<void> {
  await pooler?.[Symbol.asyncDispose]();
}

/**
 * Options that the README demands behind a pooler. A database of another server stays as it is, and one behind a proxy, or for
 * another role. Writes that go together need prepared statements.
 */
export async function throughPooler(url: string, engine: EngineOptions = {}): Promise<Pooled> {
  if (!pooler || engine.groupCommit || loginOf(url) !== loginOf(server)) return { url, engine };
  const settings = Object.entries({ ...TIMEOUTS, ...engine.dialectOptions }).filter(
    ([name]) => name in TIMEOUTS,
  );
  const database = new URL(url).pathname.slice(1);
  const changes = settings.map(([name, value]) => `ALTER DATABASE "${database}" SET ${name} = ${value}`);
  await execute(url, changes.join(';'));
  const { host } = new URL(pooler.url);
  return {
    url: Object.assign(new URL(url), { host }).href,
    engine: { preparedStatements: false, ...engine },
  };
}

function loginOf(url: string): string {
  const { host, username } = new URL(url);
  return `${username}@${host}`;
}
