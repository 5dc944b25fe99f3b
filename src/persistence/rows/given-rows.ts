/** Values of many rows -> the texts of arrays in slots, one for each column. */
import type { AttributeInfo } from '../../model/model-info.js';
import { arrayLiteral } from '../sql/encode-parameter.js';
import { type GivenColumn, givenSlot, placesSlot } from '../sql/given-sql.js';
import type { Cell } from './encode-rows.js';

/** The values of a row, and its place among all that are asked for. */
export interface GivenRow {
  readonly place: number;
  readonly cells: readonly Cell[];
}

/** Puts the values of a group into slots. */
export function giveRows(
  group: number,
  columns: readonly GivenColumn[],
  rows: readonly GivenRow[],
  slots: Record<string, string | null>,
): void {
  slots[placesSlot(group).slot] = plainArray(rows.map(({ place }) => place));
  for (const { attribute, isPartial } of columns) {
    const cells = rows.map((row) => row.cells.find((each) => each.attribute === attribute));
    giveColumn(group, attribute, cells, slots);
    if (isPartial) {
      const given = cells.map((cell) => (cell ? 't' : 'f'));
      slots[givenSlot(group, 'given', attribute.name).slot] = plainArray(given);
    }
  }
}

function giveColumn(
  group: number,
  { name, type }: AttributeInfo,
  cells: readonly (Cell | undefined)[],
  slots: Record<string, string | null>,
): void {
  if (type.kind !== 'array') {
    slots[givenSlot(group, 'value', name).slot] = arrayLiteral(cells.map((cell) => cell?.text ?? null));
    return;
  }
  const members: string[] = [];
  const first: string[] = [];
  const last: string[] = [];
  let count = 0;
  for (const cell of cells) {
    if (!cell || cell.text === null) {
      first.push('NULL');
      last.push('NULL');
      continue;
    }
    const { length } = cell.value as readonly unknown[];
    if (length > 0) members.push(cell.text.slice(1, -1));
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
