/** Values of rows as JavaScript has them -> texts in slots. Knows no instances, hooks and setters. */

import { type ColumnType, comparedType, mayBeArray } from '../../describe/column-type.js';
import { localText } from '../../describe/exact-time.js';
import {
  type AttributeInfo,
  isFilled,
  isGenerated,
  type ModelInfo,
  timestampsOf,
} from '../../describe/model-info.js';
import { defaultValues } from '../../describe/sequelize-internals.js';
import { holdsRounded } from '../../schema/json-value.js';
import { encodeParameter } from './encode-parameter.js';
import type { PlacedColumn, RowCells } from './parameter-arrays.js';
import { writtenSlot } from './write-sql.js';

/** Values by attribute. */
export type WriteValues = Readonly<Record<string, unknown>>;

/** Mark for each column of a row: `0` is no value, `1` a value of its own, `n` the moment of the write. */
export type RowShape = string;

/** A column that rows are written with. */
interface WrittenColumn extends PlacedColumn {
  readonly slot: string;
  /** Function for the value that Sequelize fills in for a new row without one. */
  readonly makeDefault: (() => unknown) | undefined;
  readonly isTimestamp: boolean;
}

/** Encodes the rows of one model. A shape is null where only Sequelize can write the values. */
export class RowEncoder {
  readonly #columns: readonly WrittenColumn[];
  readonly #updatedAt: string | undefined;

  constructor({ model, attributes }: ModelInfo) {
    const defaults = defaultValues(model);
    const { createdAt, updatedAt } = timestampsOf(model);
    this.#updatedAt = updatedAt;
    this.#columns = [...attributes.values()]
      .filter(({ type }) => type.kind !== 'virtual')
      .map((attribute, place) => ({
        attribute,
        place,
        slot: writtenSlot(attribute.name).slot,
        makeDefault: defaults[attribute.name],
        isTimestamp: attribute.name === createdAt || attribute.name === updatedAt,
      }));
  }

  /** The values of a new row, with those that are made for columns without one. */
  newRow(given: WriteValues, take: TakeText): RowShape | null {
    const moment = now();
    return this.#encode(given, take, ({ isTimestamp, makeDefault }) =>
      isTimestamp ? moment : makeDefault?.(),
    );
  }

  /** The values that a row is changed to. */
  changes(given: WriteValues, take: TakeText): RowShape | null {
    return this.#encode(given, take, null);
  }

  /** The attributes of a shape. */
  attributesOf(shape: RowShape): AttributeInfo[] {
    return this.#columns.filter(({ place }) => shape[place] !== '0').map(({ attribute }) => attribute);
  }

  /** The columns of a shape that have a mark. */
  columnsOf(shape: RowShape, mark: '1' | 'n'): readonly PlacedColumn[] {
    return this.#columns.filter(({ place }) => shape[place] === mark);
  }

  /** @param make the value of a column of a new row without one */
  #encode(
    given: WriteValues,
    take: TakeText,
    make: ((column: WrittenColumn) => unknown) | null,
  ): RowShape | null {
    // Sequelize takes the moment of the write instead.
    if (this.#updatedAt !== undefined && given[this.#updatedAt] !== undefined) return null;
    let shape = '';
    for (const column of this.#columns) {
      const { attribute, isTimestamp } = column;
      const own = given[attribute.name];
      const value = own === undefined && make && !isGenerated(attribute) ? make(column) : own;
      if (value === undefined) {
        // Sequelize refuses the row.
        if (make && !attribute.nullable && !isFilled(attribute) && !isGenerated(attribute)) return null;
        shape += '0';
        continue;
      }
      shape += own === undefined && isTimestamp ? 'n' : '1';
      // A timestamp of ours is a text already.
      const isText = isTimestamp && typeof value === 'string';
      const text = isText ? ownMoment(attribute.type, value) : encodeParameter(attribute.type, value);
      // Sequelize compares documents as JavaScript reads them, and PostgreSQL with all their digits.
      const isCompared = make === null && comparedType(attribute.type).kind === 'json';
      if (text === undefined || (isCompared && holdsRounded(value))) return null;
      take(column, text, value);
    }
    return shape;
  }
}

function ownMoment(type: ColumnType, moment: string): string {
  return type.kind === 'date' && type.zone !== undefined ? localText(new Date(moment), type.zone) : moment;
}

/** Takes the text of a value. */
export type TakeText = (column: WrittenColumn, text: string | null, value: unknown) => void;

/** Puts texts into the slots of a statement for one row. */
export function intoSlots(slots: Record<string, string | null>): TakeText {
  return ({ slot }, text) => {
    slots[slot] = text;
  };
}

/** Puts texts into one of many rows. */
export function intoCells(cells: RowCells): TakeText {
  const { texts, lengths } = cells;
  return ({ attribute: { type }, place }, text, value) => {
    texts[place] = text;
    if (type.kind !== 'array' || !Array.isArray(value)) return;
    lengths[place] = value.length;
    if (!mayBeArray(type.element) && value.some(Array.isArray)) cells.isNested = true;
  };
}

let lastMoment = 0;
let lastText = '';

/** The moment of a write. Many rows are written in one millisecond, and its text is worth as much as the rest of a row's. */
export function now(): string {
  const current = Date.now();
  if (current !== lastMoment) {
    lastMoment = current;
    lastText = new Date(current).toISOString();
  }
  return lastText;
}
