/** Values of rows that code of the application's writes within the scope of a request. */
import { type Access, allowsValue, presetOf } from '../../operation/access.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { valueText } from '../../query/type-template.js';
import { without } from '../../util/without.js';
import type { WriteValues } from '../rows/encode-rows.js';

/**
 * The values of a new row, with those that the scope gives it.
 *
 * @throws RefusedRequestError 403 for a value outside the scope
 */
export function newRowWithin(values: WriteValues, model: string, access: Access): WriteValues {
  const written: Record<string, unknown> = { ...values };
  for (const name of access.form.scope.keys()) {
    const preset = presetOf(access, name);
    if (written[name] === undefined && preset !== undefined) written[name] = preset;
    else if (!allowsValue(access, name, written[name])) throw outside(model, name);
  }
  return written;
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
  const scoped = [...access.form.scope.keys()];
  const isElsewhere = scoped.some((name) => {
    const text = valueText(values[name]);
    return text !== undefined && text !== valueText(row[name]);
  });
  return isElsewhere ? null : without(values, scoped);
}

function outside(model: string, attribute: string): RefusedRequestError {
  return new RefusedRequestError(403, `This request may not write ${model} with this ${attribute}.`);
}
