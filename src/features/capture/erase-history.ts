/** Erasure of stored values, for code that erases data that people want to have forgotten. */
import type { Model, Transaction } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import type { HistoryOptions } from '../../declare/history-options.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { declaredOptions } from '../../describe/record.js';
import { idOf, keyText } from '../../describe/row-key.js';
import { noSuchRecord } from '../../errors/errors.js';
import { storedText } from '../../execute/customization/hydrate-record.js';
import { arrayLiteral } from '../../execute/sql/encode-parameter.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import { tableBeside } from '../../execute/sql/sql-fragment.js';
import { rowIdOf, sourceOf } from './change-table.js';

/** The function of the database that erases values. Its name has the version of its behaviour. */
export const ERASE = 'crud_erase_1';
/** The same for actors. */
export const ERASE_ACTOR = 'crud_erase_actor_1';

interface Place {
  readonly transaction?: Transaction;
}

/**
 * Erases stored values of a row.
 *
 * @param record the row; null where it is gone, and its id is the primary key
 * @param attributes null is all of them
 * @returns the number of changes
 */
export async function eraseRow(
  info: ModelInfo,
  { id, record }: { readonly id: unknown; readonly record: Model | null },
  attributes: readonly string[] | null,
  place: Place,
): Promise<number> {
  const { primaryKey, address, model } = info;
  const isKnown = record !== null || address === primaryKey;
  const key = record ? idOf(primaryKey, (name) => storedText(info, record, name)) : id;
  const row = isKnown ? rowIdOf(info, key) : null;
  if (row === null) throw noSuchRecord({ name: info.name, key: keyText(address) });
  const columns = attributes?.flatMap((name) => [
    attributeOf(info, name).column,
    ...earlierColumns(model, name),
  ]);
  if (columns?.length === 0) return 0;
  return call(model, ERASE, [sourceOf({ model }), row, columns ? arrayLiteral(columns) : null], place);
}

/** The columns that an attribute had before, by `history.renamed`. */
function earlierColumns(model: ModelClass, attribute: string): readonly string[] {
  const { renamed = {} } = Object(declaredOptions(model)?.history) as HistoryOptions;
  return Object.keys(renamed).filter((column) => renamed[column] === attribute);
}

/** Puts another actor in the place of one, in all changes beside the table of a model. @returns the number of changes */
export async function eraseActor(
  model: ModelClass,
  actor: string,
  substitute: string | null,
  place: Place,
): Promise<number> {
  return call(model, ERASE_ACTOR, [actor, substitute], place);
}

async function call(
  model: ModelClass,
  name: string,
  bind: readonly (string | null)[],
  place: Place,
): Promise<number> {
  const values = bind.map((_, index) => `$${index + 1}`).join(', ');
  const text = `SELECT ${tableBeside(model, name)}(${values}) AS erased`;
  const [[found] = []] = (await model.sequelize?.query(text, { ...place, bind: [...bind] })) ?? [];
  return Number((found as { readonly erased: string } | undefined)?.erased);
}
