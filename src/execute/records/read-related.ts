/**
 * Reads the related rows of many records: rows of our SQL, or records where code of the user's takes part in queries of their
 * model. The items of each parent are separated, with a mark where more follow.
 */
import type { Sequelize, Transaction } from 'sequelize';
import {
  checkCountable,
  type FoundRelation,
  relatedRows,
  relatedSlots,
} from '../../operation/related-rows.js';
import {
  currentSession,
  isOnSequelize,
  type StatementTarget,
  statementRunner,
} from '../../postgres/index.js';
import { perPair } from '../../util/memo.js';
import { openTest } from '../customization/plain-queries.js';
import { RelatedRows, type RelatedRowsFound } from '../rows/related-rows.js';
import {
  countRelatedRows,
  findRelatedRecords,
  type RelatedCriteria,
  type RelatedRecordsFound,
} from './related-records.js';
import { inReadScope } from './run-records.js';

interface RelatedRequest extends RelatedCriteria {
  /** The columns of rows, its keys among them. */
  readonly columns: readonly string[];
  /** True where records are hydrated from the rows. */
  readonly needsRecords: boolean;
}

/** Where it runs. */
export interface RelatedContext {
  /** Target of our SQL. Default: any connection of the pool. */
  readonly on?: StatementTarget | undefined;
  /** Transaction of Sequelize's queries. Default: that of the running code. */
  readonly transaction?: Transaction | undefined;
}

/** Rows or records of several parents, parent by parent. */
type FoundRelated =
  | (RelatedRowsFound & { readonly records: null })
  | (RelatedRecordsFound & { readonly rows: null });

/**
 * Reads the related rows of parents with these keys.
 *
 * @param keys texts of the parents' column, each once
 */
async function readRelated(
  request: RelatedRequest,
  keys: readonly string[],
  { on, transaction }: RelatedContext,
): Promise<FoundRelated> {
  const { plan, access, filter, columns, order, limit, needsRecords } = request;
  if (keys.length > 0 && !isReadByRows(plan, needsRecords)) {
    const found = await onSequelize(plan, transaction, (scope) => findRelatedRecords(request, keys, scope));
    return { ...found, rows: null };
  }
  const where = relatedRows(plan, access, filter);
  const found = await readerOf(plan).run(
    { where, select: { columns }, order, limit },
    keys,
    relatedSlots(access),
    targetOf(plan, { on, transaction }),
  );
  return { ...found, records: null };
}

/**
 * Counts the related rows of parents with these keys.
 *
 * @param limit rows of each parent that are counted at most; `Infinity` counts all
 * @returns a number for each key
 * @throws TypeError where hooks or methods choose the rows
 */
export async function countRelated(
  request: Pick<RelatedRequest, 'plan' | 'access' | 'filter'>,
  limit: number,
  keys: readonly string[],
  context: RelatedContext,
): Promise<readonly number[]> {
  const { plan, access, filter } = request;
  if (keys.length === 0) return [];
  checkCountable(plan);
  if (!isReadByRows(plan, false)) {
    return onSequelize(plan, context.transaction, (scope) => countRelatedRows(request, limit, keys, scope));
  }
  const where = relatedRows(plan, access, filter);
  return readerOf(plan).count(where, limit, keys, relatedSlots(access), targetOf(plan, context));
}

const readerOf = perPair(({ relation, target }: FoundRelation) => new RelatedRows(relation, target.info));

function targetOf({ target }: FoundRelation, { on, transaction }: RelatedContext) {
  const { sequelize } = target.info.model;
  return on ?? (transaction && statementRunner(sequelize as Sequelize).within(transaction));
}

async function onSequelize<T>(
  { target }: FoundRelation,
  transaction: Transaction | undefined,
  work: (scope: { readonly transaction?: Transaction }) => Promise<T>,
): Promise<T> {
  const { model } = target.info;
  const joined = transaction ?? (await currentSession(model.sequelize)?.transactionFor('select'));
  return inReadScope(model, joined ? { transaction: joined } : {}, work);
}

/** True where our SQL may read the rows of a relation now. */
export function isReadByRows({ target: { info } }: FoundRelation, needsRecords: boolean): boolean {
  return !isOnSequelize() && openTest(info, 'read', needsRecords)();
}

interface ItemsRequest extends Omit<RelatedRequest, 'limit'> {
  /** Items of each parent; null is all of them. */
  readonly size: number | null;
}

/** The items of one parent: those from one place up to another. */
export interface Group {
  readonly first: number;
  readonly end: number;
  readonly hasNext: boolean;
}

/** The group of a parent without rows. */
export const NO_ITEMS: Group = Object.freeze({ first: 0, end: 0, hasNext: false });

interface ItemsByParent {
  /** By key. A parent without items has none. */
  readonly groups: ReadonlyMap<string, Group>;
  /** Without the row that only shows that there are more. */
  readonly items: FoundItems;
}

/** Rows or records. */
export type FoundItems =
  | Omit<Extract<FoundRelated, { readonly records: null }>, 'parents'>
  | Omit<Extract<FoundRelated, { readonly rows: null }>, 'parents'>;

/** Reads the items of parents with these keys. */
export async function readItems(
  { size, ...request }: ItemsRequest,
  keys: readonly (string | null)[],
  context: RelatedContext,
): Promise<ItemsByParent> {
  const distinct = [...new Set(keys.filter((key) => key !== null))];
  // One row more shows that there are others.
  const limit = request.plan.relation.isOne ? 1 : size === null ? null : size + 1;
  const { parents, ...found } = await readRelated({ ...request, limit }, distinct, context);
  const groups = new Map<string, Group>();
  const isKept: boolean[] = [];
  let end = 0;
  for (let index = 0; index < parents.length; ) {
    const parent = parents[index] as number;
    const first = end;
    let hasNext = false;
    for (; parents[index] === parent; index += 1) {
      isKept[index] = size === null || end - first < size;
      if (isKept[index]) end += 1;
      else hasNext = true;
    }
    groups.set(distinct[parent] as string, { first, end, hasNext });
  }
  const some = <T>(all: readonly T[]): readonly T[] =>
    end === all.length ? all : all.filter((_, index) => isKept[index]);
  if (!found.records) return { groups, items: { ...found, rows: some(found.rows) } };
  const columns = new Map([...found.columns].map(([name, texts]) => [name, some(texts)]));
  return { groups, items: { ...found, records: some(found.records), columns } };
}
