/** Values of many rows -> the texts of arrays in slots, one for each column. */
import { arrayLiteral } from '../sql/encode-parameter.js';
import { type GivenColumn, givenSlot, placesSlot } from '../sql/parameter-arrays.js';
import type { PlacedColumn, RowCells } from './encode-rows.js';

/** The values of a row, and its place among all that are asked for. */
export interface GivenRow extends RowCells {
  readonly place: number;
}

/** Puts the values of a group into slots. */
export function giveRows(
  group: number,
  columns: readonly (GivenColumn & PlacedColumn)[],
  rows: readonly GivenRow[],
  slots: Record<string, string | null>,
): void {
  slots[placesSlot(group).slot] = plainArray(rows.map(({ place }) => place));
  for (const column of columns) {
    giveColumn(group, column, rows, slots);
    if (!column.isPartial) continue;
    const given = rows.map(({ texts }) => (texts[column.place] === undefined ? 'f' : 't'));
    slots[givenSlot(group, 'given', column.attribute.name).slot] = plainArray(given);
  }
}

function giveColumn(
  group: number,
  { attribute: { name, type }, place }: PlacedColumn,
  rows: readonly GivenRow[],
  slots: Record<string, string | null>,
): void {
  if (type.kind !== 'array') {
    slots[givenSlot(group, 'value', name).slot] = arrayLiteral(rows.map(({ texts }) => texts[place] ?? null));
    return;
  }
  const members: string[] = [];
  const first: string[] = [];
  const last: string[] = [];
  let count = 0;
  for (const { texts, lengths } of rows) {
    const text = texts[place] ?? null;
    if (text === null) {
      first.push('NULL');
      last.push('NULL');
      continue;
    }
    const length = lengths[place] ?? 0;
    if (length > 0) members.push(text.slice(1, -1));
    first.push(String(count + 1));
    count += length;
    last.push(String(count));
  }
  slots[givenSlot(group, 'value', name).slot] = `{${members.join(',')}}`;
  slots[givenSlot(group, 'first', name).slot] = plainArray(first);
  slots[givenSlot(group, 'last', name).slot] = plainArray(last);
}

/** An array of what needs no quotes. */
function plainArray(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`;
}
