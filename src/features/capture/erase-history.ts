/** Erasure of stored values, for code that erases data that people want to have forgotten. */
import type { Model, Transaction } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import type { HistoryOptions } from '../../declare/history-options.js';
import type { AttributeInfo, ModelInfo } from '../../describe/model-info.js';
import { declaredOptions } from '../../describe/record.js';
import { keyText, partsOf } from '../../describe/row-key.js';
import { isCitext } from '../../describe/type-difference.js';
import { noSuchRecord } from '../../errors/errors.js';
import { storedText } from '../../execute/customization/hydrate-record.js';
import { arrayLiteral, encodeParameter } from '../../execute/sql/encode-parameter.js';
import { attributeOf } from '../../execute/sql/predicate-sql.js';
import {
  identifier,
  joinSql,
  quotedSql,
  raw,
  type SqlFragment,
  sql,
  tableBeside,
} from '../../execute/sql/sql-fragment.js';
import { changeTables, keyRow, rowIdSql, sourceOf } from './change-table.js';
import { imageRow } from './image-sql.js';

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
  const texts = keyTexts(info, id, record);
  if (texts === null) throw noSuchRecord({ name: info.name, key: keyText(address) });
  const columns = attributes?.flatMap((name) => [
    attributeOf(info, name).column,
    ...earlierColumns(model, name),
  ]);
  if (columns?.length === 0) return 0;
  const source = sql`${sourceOf({ model })}`;
  const key = keyRow(model, texts);
  const named = sql`SELECT ${rowIdSql(info, 'k')} AS row_id FROM ${key} AS k`;
  const same = primaryKey.map(({ column }) => raw(`r.${identifier(column)} = k.${identifier(column)}`));
  const image = imageRow(model, raw('coalesce(c.old, c.new)'));
  const changes = raw(changeTables(model).changes);
  const similar = sql`SELECT c.row_id FROM ${changes} AS c CROSS JOIN LATERAL ${image} AS r CROSS JOIN ${key} AS k WHERE c.source = ${source} AND ${joinSql(same, ' AND ')}`;
  const rows = primaryKey.some(isSpelledVariously) ? sql`${named} UNION ${similar}` : named;
  const erased = columns ? sql`${arrayLiteral(columns)}` : raw('NULL');
  const erasure = sql`${raw(tableBeside(model, ERASE))}(${source}, rows.row_id, ${erased})`;
  return count(model, sql`SELECT sum(${erasure}) AS erased FROM (${rows}) AS rows`, place);
}

/** The texts of the primary key, by column; null where the id is another key, and where a part is missing. */
function keyTexts(
  info: ModelInfo,
  id: unknown,
  record: Model | null,
): Readonly<Record<string, string>> | null {
  const { primaryKey, address } = info;
  if (!record && address !== primaryKey) return null;
  const parts = record
    ? primaryKey.map(({ name }) => storedText(info, record, name))
    : partsOf(primaryKey, id).map((part, index) => textOfPart(primaryKey[index] as AttributeInfo, part));
  if (parts.some((part) => typeof part !== 'string')) return null;
  return Object.fromEntries(primaryKey.map(({ column }, index) => [column, parts[index] as string]));
}

function textOfPart({ type }: AttributeInfo, value: unknown): string | null {
  return value === undefined || value === null ? null : (encodeParameter(type, value) ?? String(value));
}

/** True where one value of the column has several texts, such as 7 and 7.00, so that changes of one row may have each. */
function isSpelledVariously({ found }: AttributeInfo): boolean {
  if (!found) return false;
  const { type, baseType, isDeterministic } = found;
  const hasScale = baseType !== 'numeric' || type.startsWith('numeric(');
  return !isDeterministic || !hasScale || isCitext(baseType);
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
  const other = substitute === null ? raw('NULL') : sql`${substitute}`;
  return count(
    model,
    sql`SELECT ${raw(tableBeside(model, ERASE_ACTOR))}(${actor}, ${other}) AS erased`,
    place,
  );
}

/** Runs an erasure through Sequelize as a write: on the primary, in the transaction of the running code. */
async function count(model: ModelClass, erasure: SqlFragment, place: Place): Promise<number> {
  const [[found] = []] = (await model.sequelize?.query(quotedSql(erasure), { ...place })) ?? [];
  return Number((found as { readonly erased: string } | undefined)?.erased);
}
