/** The table of imports that can go on: how far each has come, in the transactions of its chunks. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { tableBeside } from '../../execute/sql/sql-fragment.js';
import type { OwnTable } from '../../operation/feature.js';
import { importPlan } from './import-options.js';

const IMPORT_TABLE = 'crud_import';

/** The table for imports of a model, in its schema: they are in one transaction. The model must be attached. */
export function importTableOf(model: ModelClass): OwnTable {
  const name = tableBeside(model, IMPORT_TABLE);
  return {
    name,
    definition: [
      `CREATE TABLE IF NOT EXISTS ${name} (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  digest text,
  rows bigint NOT NULL DEFAULT 0,
  result text,
  is_done boolean NOT NULL DEFAULT false,
  claim uuid,
  claimed_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT ${IMPORT_TABLE}_pkey PRIMARY KEY (scope, key)
)`,
      `CREATE INDEX IF NOT EXISTS ${IMPORT_TABLE}_created_at ON ${name} (created_at)`,
    ],
    option: 'idempotency',
    failure: 'imports with an Idempotency-Key fail',
  };
}

/** The table of a resource that has imports. */
export function importTables(plan: ResourcePlan): OwnTable[] {
  return importPlan(plan) ? [importTableOf(plan.model)] : [];
}

/** Texts of the statements on a table. Each but the first two begins with scope, key and claim. */
export function importStatements({ name }: OwnTable) {
  const claimed = 'WHERE scope = $1 AND key = $2 AND claim = $3::uuid';
  const until = (seconds: string) => `now() + make_interval(secs => ${seconds}::float8)`;
  const old = (seconds: string) => `now() - make_interval(secs => ${seconds}::float8)`;
  const unlessOld = (value: string, other: string) =>
    `CASE WHEN k.created_at > ${old('$5')} THEN ${value} ELSE ${other} END`;
  return {
    /** Removes keys that are too old: seconds of retention, how many. Those that an import has now are left. */
    sweep:
      `DELETE FROM ${name} WHERE ctid IN (SELECT ctid FROM ${name} WHERE created_at <= ${old('$1')} ` +
      'AND coalesce(claimed_until < now(), true) LIMIT $2::int FOR UPDATE SKIP LOCKED)',
    /** Claims a key for some time: scope, key, claim, seconds, seconds of retention. A key that is too old is a new one. No row where another import has it. */
    claim:
      `INSERT INTO ${name} AS k (scope, key, claim, claimed_until) VALUES ($1, $2, $3::uuid, ${until('$4')}) ` +
      'ON CONFLICT (scope, key) DO UPDATE SET claim = excluded.claim, claimed_until = excluded.claimed_until, ' +
      `digest = ${unlessOld('k.digest', 'NULL')}, rows = ${unlessOld('k.rows', '0')}, result = ${unlessOld('k.result', 'NULL')}, ` +
      `is_done = ${unlessOld('k.is_done', 'false')}, created_at = ${unlessOld('k.created_at', 'now()')} ` +
      'WHERE coalesce(k.claimed_until < now(), true) RETURNING digest, rows, result, is_done',
    /** Keeps the progress of an import: … digest, rows, result, a mark of its end, seconds of its claim. */
    keep:
      `UPDATE ${name} SET digest = $4, rows = $5::bigint, result = $6, is_done = $7::boolean, ` +
      `claimed_until = CASE WHEN $7::boolean THEN NULL ELSE ${until('$8')} END ${claimed}`,
    /** Removes a key under which nothing was stored. */
    forget: `DELETE FROM ${name} ${claimed} AND digest IS NULL`,
    /** Ends a claim. */
    release: `UPDATE ${name} SET claimed_until = NULL ${claimed}`,
  };
}
