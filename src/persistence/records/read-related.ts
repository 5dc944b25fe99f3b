/** Reads what is behind a relation: rows of our SQL, or records where code of the user's takes part in queries of their model. */
import type { Sequelize, Transaction } from 'sequelize';
import type { ModelInfo } from '../../model/model-info.js';
import { type FoundRelation, relatedRows, relatedSlots } from '../../operation/related-rows.js';
import { statementRunner } from '../connections/statement-runner.js';
import type { StatementTarget } from '../connections/statement-target.js';
import { classBlockers } from '../customization/model-fast-path-blockers.js';
import { hasPlainQueries } from '../customization/plain-queries.js';
import { RelatedRows, type RelatedRowsFound } from '../rows/related-rows.js';
import { currentSession, isOnSequelize } from '../session/session.js';
import { findRelatedRecords, type RelatedCriteria, type RelatedRecordsFound } from './related-records.js';
import { rowRecords } from './row-records.js';
import { inReadScope } from './run-records.js';

/** What is asked of a relation. */
export interface RelatedRequest extends RelatedCriteria {
  /** The columns of rows, its keys among them. */
  readonly columns: readonly string[];
  /** Whether records are made of the rows. */
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
  const { model } = plan.target.info;
  if (keys.length > 0 && !isReadByRows(plan, needsRecords)) {
    const joined = transaction ?? (await currentSession(model.sequelize)?.transactionFor('select'));
    const scope = joined ? { transaction: joined } : {};
    const found = await inReadScope(model, scope, (within) => findRelatedRecords(request, keys, within));
    return { ...found, rows: null };
  }
  const reader = readers.get(plan) ?? new RelatedRows(plan.relation, plan.target.info);
  readers.set(plan, reader);
  const where = relatedRows(plan, access, filter);
  const found = await reader.run(
    { where, select: { columns }, order, limit },
    keys,
    relatedSlots(access),
    on ?? (transaction && statementRunner(model.sequelize as Sequelize).within(transaction)),
  );
  return { ...found, records: null };
}

/** Whether our SQL may read the rows of a relation now: hooks and scopes come at any time. */
export function isReadByRows({ target: { info } }: FoundRelation, needsRecords: boolean): boolean {
  return (
    !isOnSequelize() &&
    rowRecords(info.model) !== null &&
    !isBlocked(info, needsRecords) &&
    hasPlainQueries(info.model, 'read')
  );
}

/** What of a class needs Sequelize, by whether records are made. */
const blocked = [new WeakMap<ModelInfo, boolean>(), new WeakMap<ModelInfo, boolean>()] as const;

function isBlocked(info: ModelInfo, needsRecords: boolean): boolean {
  const known = blocked[needsRecords ? 1 : 0];
  const is = known.get(info) ?? classBlockers(info, 'read', needsRecords).length > 0;
  known.set(info, is);
  return is;
}
