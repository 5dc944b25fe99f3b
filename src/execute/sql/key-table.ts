/** The table of the keys of requests: its definition, and the statements on it. */
import type { ModelClass } from '../../declare/crud-options.js';
import type { Slot } from '../../request/query/predicate.js';
import { tableBeside } from './quoted-table.js';
import type { Slots, Statement } from './statement.js';

/** The name of the table. */
const KEY_TABLE = 'crud_idempotency';

/** One, in a schema. */
export interface KeyTable {
  /** With the schema, quoted. */
  readonly name: string;
  /** Statements that create it where it is not there. */
  readonly definition: readonly string[];
}

/** The table for requests that write a model, in its schema: they are in one transaction. The model must be attached. */
export function keyTableOf(model: ModelClass): KeyTable {
  const name = tableBeside(model, KEY_TABLE);
  return { name, definition: definitionOf(name) };
}

/** Key tables of several models, each once. */
export function keyTablesOf(models: readonly ModelClass[]): readonly KeyTable[] {
  return [...new Map(models.map(keyTableOf).map((table) => [table.name, table])).values()];
}

/** Keys are compared as bytes, which is cheaper than by the rules of a language. Removing old ones looks for their time. */
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
export interface KeyStatements {
  /** Takes a key: scope, key, fingerprint, seconds of retention. It writes a row unless another request has the key. */
  readonly take: string;
  /** Reads the fingerprint and the answer of a key: scope, key. */
  readonly find: string;
  /** Keeps an answer: scope, key, status, location, etag, answer. */
  readonly keep: string;
  /** Gives a key back: scope, key. */
  readonly release: string;
  /** Removes some old keys: seconds of retention, how many. Those that another request takes now are left. */
  readonly sweep: string;
}

/** The texts for a table. */
export function keyStatements({ name }: KeyTable): KeyStatements {
  const old = (seconds: string): string => `now() - make_interval(secs => ${seconds}::float8)`;
  return {
    take:
      `INSERT INTO ${name} AS k (scope, key, fingerprint) VALUES ($1, $2, $3) ON CONFLICT (scope, key) DO UPDATE SET ` +
      'fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = NULL, location = NULL, etag = NULL, ' +
      `answer = NULL WHERE k.created_at <= ${old('$4')}`,
    find: `SELECT fingerprint, status, location, etag, answer FROM ${name} WHERE scope = $1 AND key = $2`,
    keep: `UPDATE ${name} SET status = $3, location = $4, etag = $5, answer = $6 WHERE scope = $1 AND key = $2`,
    release: `DELETE FROM ${name} WHERE scope = $1 AND key = $2`,
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

/** Under what an answer is kept. */
export interface AnswerKey extends RequestKey {
  readonly table: KeyTable;
  readonly status: number;
}

/** Under what a row is kept. */
export interface RowKey extends AnswerKey {
  /** Stands before the row, and tells what it is. */
  readonly mark: string;
}

/** The texts of the slots of a statement that keeps its row. */
export function keySlots({ scope, key, fingerprint, status, mark }: RowKey): Slots {
  return {
    'key.scope': scope,
    'key.key': key,
    'key.fingerprint': fingerprint,
    'key.status': String(status),
    'key.mark': mark,
  };
}

const KEPT: readonly Slot[] = ['scope', 'key', 'fingerprint', 'status', 'mark'].map((name) =>
  Object.freeze({ slot: `key.${name}` }),
);

/** No column has such a name, which would be taken for the column. */
const WRITTEN = '"crud:written"';

/**
 * A statement that writes a row, and keeps the row under a key. The texts of the values are those of PostgreSQL's output functions,
 * so that what writes rows can read them again. It fails with 23505 where the key is taken.
 *
 * @param isEmpty whether nothing of the row is given back
 */
export function keepingRow(write: Statement, { name }: KeyTable, isEmpty: boolean): Statement {
  const first = write.values.length + 1;
  const [scope, key, fingerprint, status, mark] = KEPT.map((_, index) => `$${first + index}`);
  const answer = isEmpty ? "''" : `${mark}::text || ${WRITTEN}::text`;
  const text =
    `WITH ${WRITTEN} AS (${write.text}${isEmpty ? ' RETURNING NULL' : ''}), kept AS (INSERT INTO ${name} ` +
    `(scope, key, fingerprint, status, answer) SELECT ${scope}, ${key}, ${fingerprint}, ${status}::smallint, ${answer} ` +
    `FROM ${WRITTEN}) SELECT * FROM ${WRITTEN}`;
  return { text, values: [...write.values, ...(isEmpty ? KEPT.slice(0, -1) : KEPT)] };
}
