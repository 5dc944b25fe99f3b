/** The door to the rows of a model: one interface, for our own statements and for Sequelize, and one answer where a write has no row. */

import type { EntityTagPlan } from '../compile/resource-plan.js';
import type { Endpoint } from '../declare/crud-options.js';
import type { RecordInfo } from '../describe/model-info.js';
import { keyText } from '../describe/row-key.js';
import { ConcurrentModificationError, noSuchRecord, notStored } from '../errors/errors.js';
import { alreadyThere, changedMeanwhile, notThere } from '../features/entity-tag.js';
import { writesGone } from '../features/soft-delete/deletion.js';
import { notDeleted } from '../features/soft-delete/restore-and-purge.js';
import type { AccessForm } from '../operation/access.js';
import type { WantedStates } from '../operation/feature.js';
import type { Operation } from '../operation/operation.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import type { RowWrite } from '../postgres/index.js';
import type { Slots } from './sql/statement.js';

/**
 * Runs the operations on one model.
 *
 * @typeParam R rows as texts, or records
 * @typeParam On the connection or transaction of the statements, and other arguments of this executor alone
 */
export interface Executor<R, On> {
  /** Null is for operations that only another executor can run: nothing has happened then. */
  run(operation: Operation, slots: Slots, on: On): Promise<R | null>;
}

/** A write by key that has written nothing. */
interface UnwrittenWrite {
  readonly info: Pick<RecordInfo, 'name' | 'address'>;
  readonly endpoint?: Endpoint;
  readonly entityTag?: EntityTagPlan | null;
  readonly ifMatch?: WantedStates | undefined;
  readonly onlyNew?: true | undefined;
  readonly form?: AccessForm;
}

/** The row with the key, as it is after the write. */
interface RowNow {
  readonly isDeleted?: boolean;
  /** False where the rule of the request for the operation refuses the row; left out where there is no such rule. */
  readonly isAllowed?: boolean;
  /** State of the row, as entity tags name it. */
  readonly state?: string | null;
  /** The write, where the table may leave out its row, and the row is as before. */
  readonly dropped?: RowWrite | false;
  /** True where other writes have changed the row since it was read. */
  readonly isOutrun?: boolean;
}

/** Refusal of a write of a row that the request sees, by the rule of its operation. */
export function refusedRow(endpoint: Endpoint, name: string): RefusedRequestError {
  const verb = endpoint === 'upsert' ? 'update' : endpoint;
  return new RefusedRequestError(403, `This request may not ${verb} this ${name}.`);
}

/** Finds the error of a write. @param row null where none is there, or the write may not see it */
export function whyUnwritten(
  { info: { name, address }, endpoint, entityTag = null, ifMatch, onlyNew, form }: UnwrittenWrite,
  row: RowNow | null,
): Error {
  const plan = { name, entityTag };
  const missing = noSuchRecord({ name, key: keyText(address) });
  const isOfDeleted = writesGone(endpoint);
  if (!row || (row.isDeleted && !isOfDeleted)) return endpoint === 'replace' ? notThere(plan) : missing;
  const { isDeleted = false, isAllowed, state = null, dropped, isOutrun } = row;
  if (isAllowed === false) return refusedRow(endpoint ?? 'update', name);
  if (isOfDeleted && !isDeleted) return notDeleted({ name });
  if (onlyNew) return alreadyThere(plan, state, form);
  if (ifMatch) return changedMeanwhile(plan, state, form);
  if (dropped) return notStored(dropped);
  // The row meets the rule by now, and did not when it was to be written.
  if (isAllowed) return refusedRow(endpoint ?? 'update', name);
  if (!isOutrun) return missing;
  return new ConcurrentModificationError(
    `Somebody else changed this ${name} at the same time; read it again and repeat the change.`,
  );
}
