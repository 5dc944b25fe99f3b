/** Changes that count as such whatever a row has: what is written along must not tell that the row had the value. */
import type { Attributes, Model } from 'sequelize';
import { unseenOf } from '../../describe/unseen-values.js';
import type { Access } from '../../operation/access.js';
import type { WriteValues } from '../rows/encode-rows.js';
import { updateRecord, type WriteOptions } from './update-record.js';

/** Writes values to the row of a record: those that no answer shows the request, and others that differ. */
export function updateUnseen<M extends Model>(
  record: M,
  values: WriteValues,
  { form }: Access,
  options: WriteOptions,
): Promise<M> {
  for (const name of unseenOf(record.constructor, form.unreadable) ?? [])
    if (values[name] !== undefined) record.changed(name as keyof M, true);
  return updateRecord(record, values as Partial<Attributes<M>>, options);
}
