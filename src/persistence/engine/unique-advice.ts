/** Which unique indexes hold soft-deleted rows, too: the value of such a row stays taken, and to restore the row may be a conflict. */
import { deletedAtOf } from '../../model/attribute-notes.js';
import type { ModelInfo } from '../../model/model-info.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import { quotedTable } from '../sql/quoted-table.js';
import { identifier } from '../sql/sql-fragment.js';
import { columnOf } from '../sql/table-indexes.js';

/** A unique index, as the catalog has it. Names are quoted. */
export interface UniqueRow {
  readonly table: string;
  readonly index: string;
  readonly constraint: string | null;
  readonly definition: string;
  readonly predicate: string | null;
  readonly keys: readonly string[];
}

/** Those that can be over some rows only: not of primary keys, deferrable constraints, and what foreign keys refer to. */
export const UNIQUE_INDEXES = `
  SELECT t.name AS "table", ix.indexrelid::regclass::text AS "index",
         (SELECT quote_ident(u.conname) FROM pg_constraint u WHERE u.conindid = ix.indexrelid AND u.contype = 'u') AS "constraint",
         pg_get_indexdef(ix.indexrelid) AS "definition", pg_get_expr(ix.indpred, ix.indrelid) AS "predicate",
         ARRAY(SELECT pg_get_indexdef(ix.indexrelid, n, true) FROM generate_series(1, ix.indnkeyatts::int) AS n) AS "keys"
  FROM unnest($1::text[]) AS t(name)
  JOIN pg_index ix ON ix.indrelid = to_regclass(t.name)
  WHERE ix.indisvalid AND ix.indisunique AND ix.indimmediate AND NOT ix.indisprimary
    AND NOT EXISTS (SELECT 1 FROM pg_constraint f WHERE f.conindid = ix.indexrelid AND f.contype = 'f')
  ORDER BY 2`;

/** The column that says when a row was soft-deleted; undefined where nothing, or something else than NULL, says that it was not. */
export function deletionColumn(info: ModelInfo): string | undefined {
  const mark = deletedAtOf(info);
  if (mark === undefined || info.model.getAttributes()[mark]?.defaultValue !== undefined) return undefined;
  return columnOf(info, mark);
}

/** One line for each such index, with the statements that put one over the other rows in its place. */
export function adviseUnique({ name, model, info }: ResourcePlan, indexes: readonly UniqueRow[]): string[] {
  const column = deletionColumn(info);
  if (column === undefined) return [];
  const isKey = ({ keys }: UniqueRow) => keys.some((key) => key.includes(column));
  const isOfOthers = ({ predicate }: UniqueRow) =>
    [column, identifier(column)].some((each) => predicate?.includes(`(${each} IS NULL)`));
  return indexes
    .filter((each) => !isKey(each) && !isOfOthers(each))
    .map(({ index, constraint, definition, predicate }) => {
      const drop =
        constraint === null
          ? `DROP INDEX ${index}`
          : `ALTER TABLE ${quotedTable(model)} DROP CONSTRAINT ${constraint}`;
      const create = definition.replace(' ON ONLY ', ' ON ');
      const others = `${predicate === null ? 'WHERE' : 'AND'} ${identifier(column)} IS NULL`;
      return `${name}: soft-deleted records keep their values in the unique index ${index}; BEGIN; ${drop}; ${create} ${others}; COMMIT;`;
    });
}
