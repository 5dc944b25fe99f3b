/** Values of rows that code of the application's writes within the scope of a request. */

import { type FindOptions, type Model, QueryTypes, type Sequelize } from 'sequelize';
import { keyAttributes } from '../../describe/foreign-keys.js';
import type { RecordInfo } from '../../describe/model-info.js';
import { missingReference, toSequelizeError } from '../../errors/sequelize-error.js';
import { type Access, allowsValue, placeWithin, presetOf } from '../../operation/access.js';
import { bindTexts } from '../../operation/predicates.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { valueText } from '../../request/query/rule-filters.js';
import { without } from '../../util/without.js';
import { encodeParameter, type WriteValues } from '../sql/encode-parameter.js';
import { attributeOf, selectRow } from '../sql/predicate-sql.js';
import { quotedSql } from '../sql/sql-fragment.js';
import { rowReferred } from '../sql/write-sql.js';
import { exactValue } from './exact-keys.js';
import type { WriteOptions } from './update-record.js';

/** Checks the values of a new row. Those that the scope sets are left out. @throws RefusedRequestError 403 for others */
export function checkNewRow(values: WriteValues, model: string, access: Access): void {
  for (const name of access.form.scope.keys()) {
    const isGiven = values[name] === undefined && presetOf(access, name) !== undefined;
    if (!isGiven && !allowsValue(access, name, values[name])) throw outside(model, name);
  }
}

/**
 * The values that a row is changed to. A row stays in its scope.
 *
 * @throws RefusedRequestError 403 for a value outside the scope, and for any where the row may be of several
 */
export function changesWithin(values: WriteValues, model: string, access: Access): WriteValues {
  const written: Record<string, unknown> = { ...values };
  for (const [name, mode] of access.form.scope) {
    if (written[name] === undefined || mode === 'any') continue;
    if (mode === 'several' || !allowsValue(access, name, written[name])) throw outside(model, name);
    delete written[name];
  }
  return written;
}

/** The values that a row is replaced with, which stays in its scope; null where the new row would belong elsewhere. */
export function replacementWithin(values: WriteValues, row: WriteValues, access: Access): WriteValues | null {
  const isElsewhere = placeWithin(access, values).some(([name, text]) => text !== valueText(row[name]));
  return isElsewhere ? null : without(values, [...access.form.scope.keys()]);
}

function outside(model: string, attribute: string): RefusedRequestError {
  return new RefusedRequestError(403, `This request may not write ${model} with this ${attribute}.`);
}

/**
 * For a write through Sequelize.
 *
 * @param record that the values are written to. Default: none
 * @throws DatabaseError where one of the rows that the values refer to is not there
 */
export async function checkReferences(
  info: RecordInfo,
  { references, slots }: Access,
  written: WriteValues,
  { transaction, useMaster = true }: WriteOptions,
  record: Model | null = null,
): Promise<void> {
  const { model } = info;
  const sequelize = model.sequelize as Sequelize;
  const kept = references.flatMap(({ own = [] }) => own.map(({ attribute }) => attribute));
  const within = { useMaster, ...(transaction ? { transaction } : {}) };
  const row = kept.length > 0 && record ? await rowValues(info, record, kept, within) : {};
  const valueAt = (name: string) => (written[name] === undefined ? row[name] : written[name]);
  for (const { own = [], ...sent } of references) {
    if (own.some(({ attribute }) => valueAt(attribute) === null)) continue;
    const reference = { ...sent, more: [...(sent.more ?? []), ...own] };
    const { attribute, where } = reference;
    const refuse = (): never => {
      throw toSequelizeError(sequelize, missingReference(info, attribute).parent, { model });
    };
    const texts = keyAttributes(reference).map((name) =>
      encodeParameter(attributeOf(info, name).type, valueAt(name)),
    );
    if (!texts.every((each) => typeof each === 'string')) return refuse();
    const textOf = (name: string) => texts[keyAttributes(reference).indexOf(name)] as string;
    const row = selectRow(rowReferred({ ...reference, where: bindTexts(where, slots) }, textOf));
    const options = { type: QueryTypes.SELECT, ...within } as const;
    const found = await sequelize.query(quotedSql(row), options);
    if (found.length === 0) refuse();
  }
}

/** Options of a read that no code of the user's takes part in. */
const UNSEEN_READ: FindOptions & { readonly hooks: false } = { hooks: false, paranoid: false, raw: true };

/** Values of the row of a record. A default scope may leave some of them out of the record. */
async function rowValues(
  { model, primaryKey }: RecordInfo,
  record: Model,
  names: readonly string[],
  options: WriteOptions,
): Promise<WriteValues> {
  const known: WriteValues = record.dataValues;
  if (primaryKey.length === 0 || names.every((name) => known[name] !== undefined)) return known;
  const found = await model.unscoped().findOne({
    attributes: [...names],
    where: Object.fromEntries(primaryKey.map(({ name }) => [name, exactValue(record, name)])),
    ...UNSEEN_READ,
    ...options,
  });
  return (found ?? {}) as unknown as WriteValues;
}
