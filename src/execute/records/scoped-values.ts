/** Values of rows that code of the application's writes within the scope of a request. */

import { QueryTypes, type Sequelize } from 'sequelize';
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

/** For a write through Sequelize. @throws DatabaseError where one of the rows that the values refer to is not there */
export async function checkReferences(
  info: RecordInfo,
  { references, slots }: Access,
  values: WriteValues,
  { transaction, useMaster = true }: WriteOptions,
): Promise<void> {
  const { model } = info;
  const sequelize = model.sequelize as Sequelize;
  for (const reference of references) {
    const { attribute, where } = reference;
    const refuse = (): never => {
      throw toSequelizeError(sequelize, missingReference(info, attribute).parent, { model });
    };
    const texts = keyAttributes(reference).map((name) =>
      encodeParameter(attributeOf(info, name).type, values[name]),
    );
    if (!texts.every((each) => typeof each === 'string')) return refuse();
    const textOf = (name: string) => texts[keyAttributes(reference).indexOf(name)] as string;
    const row = selectRow(rowReferred({ ...reference, where: bindTexts(where, slots) }, textOf));
    const options = { type: QueryTypes.SELECT, useMaster, ...(transaction ? { transaction } : {}) } as const;
    const found = await sequelize.query(quotedSql(row), options);
    if (found.length === 0) refuse();
  }
}
