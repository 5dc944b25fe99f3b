/** Soft-deleted rows for queries of Sequelize, whose models may tell them in another way than by a moment that is there. */
import { deletedAtOf } from '../../describe/attribute-notes.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { aliveRows, equalTo, rowsAsked } from '../../operation/predicates.js';
import type { Deleted } from '../../request/query/list-query.js';
import type { Predicate } from '../../request/query/predicate.js';
import { encodeParameter } from './encode-parameter.js';
import { attributeOf, type ColumnSql, compilePredicate } from './predicate-sql.js';
import { type SqlFragment, sql } from './sql-fragment.js';

/** The attribute that tells it. @throws TypeError where rows cannot be soft-deleted @throws RangeError for another word */
export function markOf(info: RecordInfo, deleted: Deleted = 'only'): string {
  rowsAsked(info, deleted);
  return deletedAtOf({ model: info.model, paranoid: true }) as string;
}

/** The rows that are not soft-deleted, as Sequelize tells them: those with the default value of the mark. Null where none can be. */
export function liveRows(info: RecordInfo): Predicate | null {
  const alive = aliveRows(info);
  if (!alive) return null;
  const { attribute } = alive;
  const usual: unknown = info.model.getAttributes()[attribute]?.defaultValue;
  // Sequelize takes an empty one for none.
  const text = usual ? encodeParameter(attributeOf(info, attribute).type, usual) : null;
  return typeof text === 'string' ? equalTo(attribute, text) : alive;
}

/** Has a query find soft-deleted rows, too. @throws TypeError @throws RangeError */
export function withGone(info: RecordInfo, deleted: Deleted | undefined): { readonly paranoid?: false } {
  if (deleted === undefined) return {};
  markOf(info, deleted);
  return { paranoid: false };
}

/** The condition that leaves out the others; undefined where they are asked for. A row that was never deleted has the default value. */
export function goneSql(
  info: RecordInfo,
  column: ColumnSql,
  deleted: Deleted | undefined,
): SqlFragment | undefined {
  if (deleted !== 'only') return undefined;
  const mark = markOf(info);
  const usual = encodeParameter(
    attributeOf(info, mark).type,
    info.model.getAttributes()[mark]?.defaultValue ?? null,
  );
  if (typeof usual === 'string') return sql`${column(mark)} IS DISTINCT FROM ${usual}`;
  const gone = rowsAsked(info, 'only');
  return gone ? compilePredicate(gone, column) : undefined;
}
