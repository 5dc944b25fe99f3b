/** The table of the keys of requests: its definition, and the statements on it. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { singleOf } from '../../declare/endpoint.js';
import { tableBeside } from '../../execute/sql/sql-fragment.js';
import type { OwnTable } from '../../operation/feature.js';
import { WRITES } from './idempotency-key.js';

/** The name of the table. */
const KEY_TABLE = 'crud_idempotency';

/** The table for requests that write a model, in its schema: they are in one transaction. The model must be attached. */
export function keyTableOf(model: ModelClass): OwnTable {
  const name = tableBeside(model, KEY_TABLE);
  return {
    name,
    definition: definitionOf(name),
    option: 'idempotency',
    failure: 'requests with an Idempotency-Key fail',
  };
}

/** The table of a resource that has writes. */
export function keyTables({ endpoints, model }: ResourcePlan): OwnTable[] {
  const operations = new Set([...endpoints].map(singleOf));
  return WRITES.some((each) => operations.has(each)) ? [keyTableOf(model)] : [];
}

/** Keys are compared as bytes, which is cheaper than by the rules of a language. Removing old ones searches by their time. */
function definitionOf(name: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${name} (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  status smallint,
  location text,
  etag text,
  answer text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT ${KEY_TABLE}_pkey PRIMARY KEY (scope, key)
)`,
    `CREATE INDEX IF NOT EXISTS ${KEY_TABLE}_created_at ON ${name} (created_at)`,
  ];
}

/** The statements on a table. */
export type KeyStatements = ReturnType<typeof keyStatements>;

/** The texts for a table. */
export function keyStatements({ name }: OwnTable) {
  const old = (seconds: string): string => `now() - make_interval(secs => ${seconds}::float8)`;
  return {
    /** Takes a key: scope, key, fingerprint, seconds of retention. It writes a row unless another request has the key. */
    take:
      `INSERT INTO ${name} AS k (scope, key, fingerprint) VALUES ($1, $2, $3) ON CONFLICT (scope, key) DO UPDATE SET ` +
      'fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = NULL, location = NULL, etag = NULL, ' +
      `answer = NULL WHERE k.created_at <= ${old('$4')}`,
    /** Reads the fingerprint and the answer of a key: scope, key. */
    find: `SELECT fingerprint, status, location, etag, answer FROM ${name} WHERE scope = $1 AND key = $2`,
    /** Keeps an answer: scope, key, status, location, etag, answer. */
    keep: `UPDATE ${name} SET status = $3, location = $4, etag = $5, answer = $6 WHERE scope = $1 AND key = $2`,
    /** Releases a key: scope, key. */
    release: `DELETE FROM ${name} WHERE scope = $1 AND key = $2`,
    /** Removes some old keys: seconds of retention, how many. Those that another request takes now are left. */
    sweep:
      `DELETE FROM ${name} WHERE ctid IN (SELECT ctid FROM ${name} WHERE created_at <= ${old('$1')} ` +
      'LIMIT $2::int FOR UPDATE SKIP LOCKED)',
  };
}

/** A key of a request. */
export interface RequestKey {
  /** Scope in which the key is unique. */
  readonly scope: string;
  readonly key: string;
  /** The same for the same request up to the dot, and behind it for the same rows that it may see. */
  readonly fingerprint: string;
}
