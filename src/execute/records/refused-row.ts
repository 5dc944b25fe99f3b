/** Refuses the write of a row that its request sees, and may not change by the rule of the operation. */
import type { Model } from 'sequelize';
import type { Endpoint, ModelClass } from '../../declare/crud-options.js';
import { describeRecords } from '../../describe/describe-model.js';
import type { RowKey } from '../../describe/model-info.js';
import { NotFoundError } from '../../errors/errors.js';
import { writesGone } from '../../features/soft-delete/deletion.js';
import { allOf, bindTexts, byKey } from '../../operation/predicates.js';
import type { Predicate } from '../../request/query/predicate.js';
import { refusedRow } from '../executor.js';
import { keySlots } from '../sql/encode-parameter.js';
import type { FoundRecords, Id } from './repository-operations.js';

/** A repository, as far as rows are searched. */
interface RowSource<M extends Model> {
  readonly model: ModelClass<M>;
  readonly idParts: RowKey;
  lockKeys(filter: Predicate, limit: number, isGoneToo: boolean): Promise<readonly unknown[]>;
  find(id: Id, options: { readonly deleted?: 'with' }): Promise<object | null>;
}

/**
 * Locks the row, where the rule allows it. A row that is not seen is not refused.
 *
 * @param allowed the rows that the operation may change
 * @throws RefusedRequestError 403
 */
export async function refuseUnlessAllowed<M extends Model>(
  rows: RowSource<M>,
  allowed: Predicate,
  id: Id,
  endpoint: Endpoint,
): Promise<void> {
  const { model } = rows;
  const info = describeRecords(model as unknown as ModelClass);
  const slots = keySlots(rows.idParts, id);
  if (!slots) return;
  const isGoneToo = writesGone(endpoint);
  const [key] = await rows.lockKeys(allOf(bindTexts(byKey(rows.idParts), slots), allowed), 1, isGoneToo);
  if (key !== undefined) return;
  if (await rows.find(id, isGoneToo ? { deleted: 'with' } : {})) throw refusedRow(endpoint, info.name);
}

/** Refuses a write that found no row because of a rule. @param refuse see `refuseUnlessAllowed` */
export async function unlessRefused<M extends Model>(
  write: Promise<FoundRecords<M>>,
  refuse: () => Promise<unknown>,
): Promise<FoundRecords<M>> {
  const found = await write.catch(async (error: unknown) => {
    if (error instanceof NotFoundError) await refuse();
    throw error;
  });
  if (found.count === 0) await refuse();
  return found;
}
