/** The door to the rows of a model: one interface, for our own statements and for Sequelize, and one answer where a write has no row. */

import type { EntityTagPlan } from '../compile/resource-plan.js';
import type { Endpoint } from '../declare/crud-options.js';
import type { RecordInfo } from '../describe/model-info.js';
import { ConcurrentModificationError, noSuchRecord, notStored } from '../errors/errors.js';
import { alreadyThere, changedMeanwhile, notThere } from '../features/entity-tag.js';
import { writesGone } from '../features/soft-delete/deletion.js';
import { notDeleted } from '../features/soft-delete/restore-and-purge.js';
import type { AccessForm } from '../operation/access.js';
import type { WantedStates } from '../operation/feature.js';
import type { Operation } from '../operation/operation.js';
import type { RowWrite } from '../postgres/index.js';
import type { Slots } from './sql/statement.js';

/**
 * Runs the operations on one model.
 *
 * @typeParam R rows as texts, or records
 * @typeParam On the connection or transaction of the statements, and what else only this executor takes
 */
export interface Executor<R, On> {
  /** Null is for what only another executor can do: nothing has happened then. */
  run(operation: Operation, slots: Slots, on: On): Promise<R | null>;
}

/** A write by key that has written nothing. */
interface UnwrittenWrite {
  readonly info: Pick<RecordInfo, 'model' | 'name' | 'address'>;
  readonly endpoint?: Endpoint;
  readonly entityTag?: EntityTagPlan | null;
  readonly ifMatch?: WantedStates | undefined;
  readonly onlyNew?: true | undefined;
  readonly form?: AccessForm;
}

/** The row with the key, as it is after the write. */
interface RowNow {
  readonly isDeleted?: boolean;
  /** Its state, as entity tags name it. */
  readonly state?: string | null;
  /** The write, where the table may leave out its row, and the row is as before. */
  readonly dropped?: RowWrite | false;
  /** True where other writes have changed the row since it was read. */
  readonly isOutrun?: boolean;
}

/** Finds the error of a write. @param row null where none is there, or the write may not see it */
export function whyUnwritten(
  { info: { model, name, address }, endpoint, entityTag = null, ifMatch, onlyNew, form }: UnwrittenWrite,
  row: RowNow | null,
): Error {
  const plan = { name, entityTag };
  const missing = noSuchRecord({ name, key: address?.name ?? model.primaryKeyAttribute });
  const isOfDeleted = writesGone(endpoint);
  if (!row || (row.isDeleted && !isOfDeleted)) return endpoint === 'replace' ? notThere(plan) : missing;
  const { isDeleted = false, state = null, dropped, isOutrun } = row;
  if (isOfDeleted && !isDeleted) return notDeleted({ name });
  if (onlyNew) return alreadyThere(plan, state, form);
  if (ifMatch) return changedMeanwhile(plan, state, form);
  if (dropped) return notStored(dropped);
  if (!isOutrun) return missing;
  return new ConcurrentModificationError(
    `Somebody else changed this ${name} at the same time; read it again and repeat the change.`,
  );
}
