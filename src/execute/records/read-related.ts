/** Reads what is behind a relation: rows of our SQL, or records where code of the user's takes part in queries of their model. */

import type { Sequelize, Transaction } from 'sequelize';
import type { ModelInfo } from '../../describe/model-info.js';
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
import { classBlockers } from '../customization/model-fast-path-blockers.js';
import { hasPlainQueries } from '../customization/plain-queries.js';
import { RelatedRows, type RelatedRowsFound } from '../rows/related-rows.js';
import {
  countRelatedRows,
  findRelatedRecords,
  type RelatedCriteria,
  type RelatedRecordsFound,
} from './related-records.js';
import { rowRecords } from './row-records.js';
import { inReadScope } from './run-records.js';

/** Request for the rows of a relation. */
export interface RelatedRequest extends RelatedCriteria {
  /** The columns of rows, its keys among them. */
  readonly columns: readonly string[];
  /** True where records are hydrated from the rows. */
  readonly needsRecords: boolean;
}

/** Where it runs. */
export interface RelatedContext {
  /** Of our SQL. Default: any connection of the pool. */
  readonly on?: StatementTarget | undefined;
  /** Of Sequelize's queries. Default: that of the running code. */
  readonly transaction?: Transaction | undefined;
}

/** Rows or records of several parents, parent by parent. */
export type FoundRelated =
  | (RelatedRowsFound & { readonly records: null })
  | (RelatedRecordsFound & { readonly rows: null });

const readers = new WeakMap<FoundRelation, RelatedRows>();

/**
 * Reads what parents with these keys have.
 *
 * @param keys texts of the parents' column, each once
 */
export async function readRelated(
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
 * Counts what parents with these keys have.
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

function readerOf(plan: FoundRelation): RelatedRows {
  const reader = readers.get(plan) ?? new RelatedRows(plan.relation, plan.target.info);
  readers.set(plan, reader);
  return reader;
}

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

/** True where our SQL may read the rows of a relation now: hooks and scopes come at any time. */
export function isReadByRows({ target: { info } }: FoundRelation, needsRecords: boolean): boolean {
  return (
    !isOnSequelize() &&
    rowRecords(info.model) !== null &&
    !isBlocked(info, needsRecords) &&
    hasPlainQueries(info.model, 'read')
  );
}

/** True for a class that needs Sequelize; the second map is for reads that hydrate records. */
const blocked = [new WeakMap<ModelInfo, boolean>(), new WeakMap<ModelInfo, boolean>()] as const;

function isBlocked(info: ModelInfo, needsRecords: boolean): boolean {
  const known = blocked[needsRecords ? 1 : 0];
  const is = known.get(info) ?? classBlockers(info, 'read', needsRecords).length > 0;
  known.set(info, is);
  return is;
}
