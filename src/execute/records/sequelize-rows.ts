/** Rows that an operation is about, as Sequelize finds them: it writes the conditions of keys and of soft deletion by itself. */
import { literal, type Model, Op, type WhereOptions } from 'sequelize';
import type { Literal } from 'sequelize/types/utils';
import type { Where } from '../../declare/attributes.js';
import { deletedAtOf, type RecordInfo } from '../../describe/model-info.js';
import { aliveRows, allOf, bindTexts, equalTo, softDeletionOf } from '../../operation/predicates.js';
import type { Deleted } from '../../request/query/list-query.js';
import type { Predicate } from '../../request/query/predicate.js';
import { encodeParameter } from '../sql/encode-parameter.js';
import { attributeOf, type ColumnSql, columnsOf, compilePredicate } from '../sql/predicate-sql.js';
import {
  boundText,
  columnName,
  joinSql,
  quoteText,
  renderSql,
  type SqlFragment,
  sql,
} from '../sql/sql-fragment.js';
import type { Slots } from '../sql/statement.js';

/** Rows of a model. */
export interface SequelizeRows<M extends Model> {
  /** A condition of the caller's, or that of a key. */
  readonly where?: Where<M> | undefined;
  /** Other conditions, with texts in the place of slots; null is every row. */
  readonly within: Predicate | null;
  /** Soft-deleted rows: Sequelize leaves them out unless they are asked for. */
  readonly deleted?: Deleted | undefined;
}

/** The rows of an operation, without the condition of its key. */
export function rowsOf(
  { options: { paranoid } }: { readonly options: { readonly paranoid?: boolean } },
  where: Predicate | null,
  slots: Slots,
): Pick<SequelizeRows<Model>, 'within' | 'deleted'> {
  const parts = conjuncts(where);
  const kinds = parts.map(softDeletionOf);
  const all = paranoid && !kinds.includes('none') ? 'with' : undefined;
  const within = allOf(...parts.filter((part, index) => kinds[index] === undefined && !isKey(part)));
  return {
    within: within && bindTexts(within, slots as Readonly<Record<string, string>>),
    deleted: kinds.includes('only') ? 'only' : all,
  };
}

/** The conditions all of which must hold. */
function conjuncts(where: Predicate | null): readonly Predicate[] {
  if (where?.kind === 'and') return where.operands.flatMap(conjuncts);
  return where ? [where] : [];
}

/** True for the condition with the slot of the key. */
function isKey(part: Predicate): boolean {
  const [value] = part.kind === 'comparison' ? part.values : [];
  return typeof value === 'object' && value.slot === 'id';
}

/** Options of a query for some rows. Only a SELECT gives the table a name. */
export function queryOf<M extends Model>(
  info: RecordInfo,
  rows: SequelizeRows<M>,
  statement: 'select' | 'other' = 'select',
): { readonly where?: Where<M>; readonly paranoid?: false } {
  const column: ColumnSql =
    statement === 'select' ? columnsOf(info, info.name) : (name) => columnName(attributeOf(info, name));
  const conditions = conditionsOf(info, rows, column);
  const { where } = rows;
  const seen = withDeleted(rows);
  if (conditions.length === 0) return where ? { where, ...seen } : seen;
  const text = renderSql(joinSql(conditions, ' AND '), (value) => quoteText(boundText(value)));
  return { where: bothHold(where, literal(`(${text})`)), ...seen };
}

/** The conditions that Sequelize does not write by itself. */
export function conditionsOf(
  info: RecordInfo,
  { within, deleted }: Pick<SequelizeRows<Model>, 'within' | 'deleted'>,
  column: ColumnSql,
): readonly SqlFragment[] {
  const gone = deleted === 'only' ? [goneSql(info, column)] : [];
  return [...gone, ...(within ? [compilePredicate(within, column)] : [])].map((each) => sql`(${each})`);
}

/** Has a query find soft-deleted rows, too. */
export function withDeleted({ deleted }: { readonly deleted?: Deleted | undefined }): {
  readonly paranoid?: false;
} {
  return deleted === undefined ? {} : { paranoid: false };
}

/** A row that was never deleted has the default value of the attribute. */
function goneSql(info: RecordInfo, column: ColumnSql): SqlFragment {
  const mark = markOf(info);
  const { defaultValue = null } = info.model.getAttributes()[mark] ?? {};
  const usual = encodeParameter(attributeOf(info, mark).type, defaultValue);
  return typeof usual === 'string'
    ? sql`${column(mark)} IS DISTINCT FROM ${usual}`
    : sql`${column(mark)} IS NOT NULL`;
}

/** The attribute that has the moment of a soft delete, of a model whose rows can be soft-deleted. */
export function markOf({ model }: RecordInfo): string {
  return deletedAtOf({ model, paranoid: true }) as string;
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

/** No attribute has it. */
const OURS = 'condition of ours';

/**
 * A condition of the caller's, and one of ours. Ours has a name, so that no default scope and no hook has another one in its
 * place, as with Op.and: Sequelize writes a literal whatever its name.
 */
export function bothHold<M>(where: WhereOptions<M> | undefined, ours: Literal): WhereOptions<M> {
  const isPlain = where !== undefined && Object.getPrototypeOf(where) === Object.prototype;
  // An OR in a literal of the caller's needs parentheses.
  const theirs = isPlain || where === undefined ? where : { [Op.and]: [where] };
  return { ...theirs, [OURS]: ours } as WhereOptions<M>;
}
