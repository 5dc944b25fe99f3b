/** Rows that an operation is about, as Sequelize finds them: it writes the conditions of keys and of soft deletion by itself. */
import { literal, type Model, Op, type WhereOptions } from 'sequelize';
import type { Literal } from 'sequelize/types/utils';
import { followsRelation } from '../../compile/compile-sort.js';
import type { Where } from '../../declare/attributes.js';
import type { ModelClass } from '../../declare/crud-options.js';
import {
  choiceProblem,
  holdingScope,
  inParentheses,
  scopeOf,
} from '../../describe/hooks-and-scopes-internals.js';
import type { RecordInfo, RowKey } from '../../describe/model-info.js';
import { valuesOfId } from '../../describe/row-key.js';
import { watchingHooks } from '../../describe/sequelize-internals.js';
import { deletionWords } from '../../features/soft-delete/sequelize-deletion.js';
import type { ListOperation } from '../../operation/operation.js';
import { allOf, bindTexts, scopedRows } from '../../operation/predicates.js';
import type { Predicate } from '../../request/query/predicate.js';
import { hasFindHooks } from '../customization/plain-queries.js';
import type { KeyTerm } from '../sql/keyset-sql.js';
import { bareColumnsOf, columnsOf, compilePredicate } from '../sql/predicate-sql.js';
import { firstOf, orderTerm, rankedOf } from '../sql/select-sql.js';
import { joinOrder, keySql } from '../sql/sort-sql.js';
import { joinSql, quotedSql, raw, type SqlFragment, sql, tableSource } from '../sql/sql-fragment.js';
import type { Slots } from '../sql/statement.js';

/** Rows of a model. */
export interface SequelizeRows<M extends Model> {
  /** A condition of the caller's, or that of a key. */
  readonly where?: Where<M> | undefined;
  /** Other conditions, with texts in the place of slots; null is every row. */
  readonly within: Predicate | null;
  /** A condition that the write may end: a restored row is no longer marked. */
  readonly before?: Predicate;
  /** False where Sequelize leaves out no rows by itself. */
  readonly paranoid?: false;
}

/** The rows of an operation, without the condition of its key. */
export function rowsOf<M extends Model>(
  model: ModelClass<M>,
  where: Predicate | null,
  slots: Slots,
): Omit<SequelizeRows<M>, 'where'> {
  const { others, ...words } = deletionWords(model, conjuncts(where));
  const within = allOf(...others.filter((part) => !isKey(part)));
  return { within: within && bindTexts(within, slots as Readonly<Record<string, string>>), ...words };
}

/** Narrows a query of Sequelize to the first rows of an order that is no order of the model's columns: it joins no table for one. */
export interface FirstRows {
  /** The terms, as ranges of `condition` name their values. */
  place(walk: readonly KeyTerm[]): readonly KeyTerm[];
  /** True in SQL for the first rows of a range. */
  condition(walk: readonly KeyTerm[], range: SqlFragment | null, limit: number): SqlFragment;
}

/**
 * Finds the first rows of a list by our SQL; null where Sequelize finds them by itself, or where code of the user's chooses rows.
 *
 * @param info of the model in the scope of the query
 * @param hasOthers true where the query has conditions beside those of the operation
 */
export function firstRows(
  info: RecordInfo,
  { where, order }: Pick<ListOperation, 'where' | 'order'>,
  slots: Slots,
  hasOthers: boolean,
): FirstRows | null {
  const most = rankedOf(order);
  // A condition of a scope may be about tables that the scope joins.
  const isFound = !hasOthers && info.primaryKey.length > 0 && !scopeOf(info.model).include;
  const isJoined = followsRelation(order) && isFound && choiceProblem(info.model) === null;
  if (most === undefined && !isJoined) return null;
  const column = columnsOf(info, info.name);
  const source = tableSource(info, info.name);
  const rows = isFound ? allOf(where, scopedRows(info)) : where;
  const bound = rows && bindTexts(rows, slots as Readonly<Record<string, string>>);
  const found = bound ? [compilePredicate(bound, column)] : [];
  const place = (walk: readonly KeyTerm[], { places } = joinOrder(walk, column)) =>
    walk.map((term) => ({ ...term, ...places.get(term) }));
  return {
    place,
    condition(walk, range, limit) {
      if (most !== undefined) return firstOf({ info, source, column }, found, raw(` LIMIT ${most}`));
      const joined = joinOrder(walk, column);
      const table = { info, source: joinSql([source, ...joined.joins], ''), column };
      const keys = place(walk, joined).map((term) => orderTerm(term, keySql(term, column)));
      const tail = sql` ORDER BY ${joinSql(keys, ', ')} LIMIT ${raw(String(limit))}`;
      return firstOf(table, range ? [...found, range] : found, tail);
    },
  };
}

/** The rows with these ids. */
export function withKeys(key: RowKey, ids: readonly unknown[]): WhereOptions {
  const [first, second] = key;
  return first && !second ? { [first.name]: ids } : { [Op.or]: ids.map((each) => valuesOfId(key, each)) };
}

function conjuncts(where: Predicate | null): readonly Predicate[] {
  if (where?.kind === 'and') return where.operands.flatMap(conjuncts);
  return where ? [where] : [];
}

/** True for a condition with a slot of the key. */
function isKey(part: Predicate): boolean {
  const [value] = part.kind === 'comparison' ? part.values : [];
  return typeof value === 'object' && (value.slot === 'id' || value.slot.startsWith('id.'));
}

/** Options of a query for some rows. Only a SELECT has an alias for the table. @param range one more condition; null is none */
export function queryOf<M extends Model>(
  info: RecordInfo,
  rows: SequelizeRows<M>,
  statement: 'select' | 'other' = 'select',
  range: SqlFragment | null = null,
): { readonly where?: Where<M>; readonly paranoid?: false } {
  const column = statement === 'select' ? columnsOf(info, info.name) : bareColumnsOf(info);
  const { where, within, before, paranoid } = rows;
  const ours = [before, within].flatMap((each) => (each ? sql`(${compilePredicate(each, column)})` : []));
  const conditions = range ? [...ours, sql`(${range})`] : ours;
  const seen = paranoid === false ? { paranoid } : {};
  // Beside ours, a default scope cannot become a part of the caller's condition.
  if (conditions.length === 0 && !(where && scopeOf(info.model).where))
    return where ? { where, ...seen } : seen;
  const text = conditions.length > 0 ? quotedSql(joinSql(conditions, ' AND ')) : 'true';
  return { where: bothHold(where, literal(`(${text})`)), ...seen };
}

/** No attribute has it. */
const OURS = 'condition of ours';

/**
 * A condition of the caller's, and one of ours. Ours has a name, so that no default scope and no hook has another one in its
 * place, as with Op.and: Sequelize writes a literal with any name.
 */
function bothHold<M>(where: WhereOptions<M> | undefined, ours: Literal): WhereOptions<M> {
  const isPlain = where !== undefined && Object.getPrototypeOf(where) === Object.prototype;
  const theirs = isPlain || where === undefined ? where : inParentheses(where as WhereOptions);
  return { ...theirs, [OURS]: ours } as WhereOptions<M>;
}

/**
 * The same model for a SELECT, all conditions of which hold: a hook that puts another one in the place of `options.where` would find the rows of others.
 *
 * @throws TypeError in a query, for such a hook
 */
export function keepingOurs<M extends Model>(unwatched: ModelClass<M>): ModelClass<M> {
  const model = holdingScope(unwatched);
  if (!hasFindHooks(model)) return model;
  const isThere = (options: unknown) => holdsOurs(Object(options).where);
  return watchingHooks(model, (name, options) => {
    const wasThere = isThere(options);
    return () => {
      if (wasThere && !isThere(options))
        throw new TypeError(
          `A hook ${name} of ${model.name} has put another condition in the place of options.where, which would find the rows of others; ` +
            'write options.where = { ...options.where, … }.',
        );
    };
  });
}

/** True where a condition has ours among those all of which must hold. */
function holdsOurs(where: unknown): boolean {
  if (Array.isArray(where)) return where.some(holdsOurs);
  return (
    typeof where === 'object' && where !== null && (OURS in where || holdsOurs(Reflect.get(where, Op.and)))
  );
}
