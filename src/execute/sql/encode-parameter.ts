/** Values as JavaScript has them -> the texts that PostgreSQL reads them from: of one column, and of the rows of a model. */

import { type ColumnType, comparedType, mayBeArray } from '../../describe/column-type.js';
import {
  infiniteOf,
  infinityText,
  isMoment,
  localText,
  momentText,
  toDatabaseYear,
} from '../../describe/exact-time.js';
import { idTextOfTexts } from '../../describe/id-text.js';
import {
  type AttributeInfo,
  isFilled,
  isGenerated,
  type ModelInfo,
  type RowKey,
  timestampsOf,
} from '../../describe/model-info.js';
import { rangeText } from '../../describe/range-value.js';
import { partsOf } from '../../describe/row-key.js';
import { defaultValues } from '../../describe/sequelize-internals.js';
import { ofTables } from '../../describe/table-facts.js';
import { AddedValue } from '../../operation/added-value.js';
import { idSlot } from '../../operation/predicates.js';
import { holdsRounded } from '../../schema/json-value.js';
import { writtenSlot } from './statement.js';

/**
 * The text of a value that a column of this type holds in JavaScript, or null for NULL. Undefined for a value that no column of
 * the type holds, such as Sequelize's `literal`.
 */
export function encodeParameter(type: ColumnType, value: unknown): string | null | undefined {
  if (value === null) return null;
  switch (type.kind) {
    case 'json':
      return JSON.stringify(value);
    case 'array':
      return Array.isArray(value) ? arrayText(type.element, value) : undefined;
    case 'date':
      return instantText(value, type.zone);
    case 'dateonly':
      return infinityText(value) ?? (typeof value === 'string' ? toDatabaseYear(value) : scalarText(value));
    case 'range':
      return Array.isArray(value) ? rangeText(value) : scalarText(value);
    case 'blob':
      return Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : undefined;
    default:
      return scalarText(value);
  }
}

/** @param zone that of a column without one */
function instantText(value: unknown, zone: string | undefined): string | undefined {
  if (value instanceof Date) {
    if (!isMoment(value)) return undefined;
    return zone === undefined ? momentText(value) : toDatabaseYear(localText(value, zone));
  }
  return infinityText(value) ?? infinityText(infiniteOf(value));
}

/** The texts of an id, by the slots of its parts; null where a part has no text in its column. */
export function keySlots(key: RowKey, id: unknown): Readonly<Record<string, string>> | null {
  const [first, second] = key;
  if (first && !second) {
    const text = encodeParameter(first.type, id);
    return typeof text === 'string' ? { id: text } : null;
  }
  const texts = textsOfId(key, id);
  return slotsOfTexts(key, (_, index) => texts[index]);
}

/** The text of each part of an id; null and undefined where no row has such a part. */
export function textsOfId(key: RowKey, id: unknown): readonly (string | null | undefined)[] {
  const parts = partsOf(key, id);
  return key.map(({ type }, index) => encodeParameter(type, parts[index]));
}

/** The texts of a key by the slots of its parts; null where one is missing. */
export function slotsOfTexts(
  key: RowKey,
  textOf: (part: AttributeInfo, index: number) => string | null | undefined,
): Readonly<Record<string, string>> | null {
  const slots: Record<string, string> = {};
  for (const [index, part] of key.entries()) {
    const text = textOf(part, index);
    if (typeof text !== 'string') return null;
    slots[idSlot(key, part.name).slot] = text;
  }
  return slots;
}

/** The text of an id; undefined where no row has it. */
export function textOfId(key: RowKey, id: unknown): string | undefined {
  const texts = textsOfId(key, id);
  return idTextOf(key, (_, index) => texts[index]);
}

/** The text of an id of these texts; undefined where one is missing. */
export function idTextOf(
  key: RowKey,
  textOf: (part: AttributeInfo, index: number) => string | null | undefined,
): string | undefined {
  const texts = key.map(textOf);
  if (texts.some((text) => typeof text !== 'string')) return undefined;
  if (key.length < 2) return texts[0] ?? '';
  return idTextOfTexts(key, texts) ?? undefined;
}

function scalarText(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return undefined;
  }
}

function arrayText(element: ColumnType, values: readonly unknown[]): string | undefined {
  const isNested = element.kind === 'array' || (!mayBeArray(element) && values.some(Array.isArray));
  const texts: (string | null)[] = [];
  for (const value of values) {
    const text =
      isNested && element.kind !== 'array' && Array.isArray(value)
        ? arrayText(element, value)
        : encodeParameter(element, value);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return isNested ? `{${texts.map((text) => text ?? 'NULL').join(',')}}` : arrayLiteral(texts);
}

/** PostgreSQL's text form of an array; quoted members may hold anything (8.15.6 of its manual). */
export function arrayLiteral(values: readonly (string | null)[]): string {
  let members = '';
  for (const value of values) {
    // Most of them have nothing to escape, and looking is cheaper than replacing.
    const text = value !== null && ESCAPED.test(value) ? value.replaceAll(/[\\"]/g, '\\$&') : value;
    members += `${members && ','}${text === null ? 'NULL' : `"${text}"`}`;
  }
  return `{${members}}`;
}

const ESCAPED = /[\\"]/;

/** Values by attribute. */
export type WriteValues = Readonly<Record<string, unknown>>;

/** Mark for each column of a row: `0` is no value, `1` a value of its own, `+` one that is added, `n` the moment of the write. */
export type RowShape = string;

/** True where a change has values of its own. */
export function hasValues(shape: RowShape): boolean {
  return shape.includes('1') || shape.includes('+');
}

/** The values of a row, by place of the column. */
export interface RowCells {
  /** Undefined where it has none. */
  readonly texts: (string | null | undefined)[];
  /** Numbers of members of the arrays. */
  readonly lengths: number[];
  /** True where one of the arrays holds arrays, whose members cannot be separated from those of another row. */
  isNested?: boolean;
}

/** An attribute that a statement writes. */
export interface WrittenAttribute extends AttributeInfo {
  /** True where the value is added to that of the row. Default: it takes its place. */
  readonly isAdded?: true;
}

/** A column that rows have values for. */
export interface PlacedColumn {
  readonly attribute: WrittenAttribute;
  readonly place: number;
}

interface WrittenColumn extends PlacedColumn {
  readonly slot: string;
  /** Function for the value that Sequelize fills in for a new row without one. */
  readonly makeDefault: (() => unknown) | undefined;
  readonly isTimestamp: boolean;
  /** True where values are documents, or arrays of them. */
  readonly isDocument: boolean;
  /** True where PostgreSQL alone makes the value. */
  readonly isGenerated: boolean;
  /** True where Sequelize refuses a new row without a value. */
  readonly isRequired: boolean;
}

/** Encodes the rows of one model. A shape is null where only Sequelize can write the values. */
export class RowEncoder {
  /** Made once more after the catalogue was read: it says which columns take no value, and which have one of their own. */
  readonly #columns: () => readonly WrittenColumn[];
  readonly #updatedAt: string | undefined;
  /** Most rows have the shape of the row before them, and a map finds the same string without another hash. */
  #lastRow: RowShape = '';
  #lastChange: RowShape = '';

  constructor({ model, attributes }: ModelInfo) {
    const defaults = defaultValues(model);
    const { createdAt, updatedAt } = timestampsOf(model);
    this.#updatedAt = updatedAt;
    const stored = [...attributes.values()].filter(({ type }) => type.kind !== 'virtual');
    this.#columns = ofTables(() =>
      stored.map((attribute, place) => ({
        attribute,
        place,
        slot: writtenSlot(attribute.name).slot,
        makeDefault: defaults[attribute.name],
        isTimestamp: attribute.name === createdAt || attribute.name === updatedAt,
        isDocument: comparedType(attribute.type).kind === 'json',
        isGenerated: isGenerated(attribute),
        isRequired: !attribute.nullable && !isFilled(attribute) && !isGenerated(attribute),
      })),
    );
  }

  /** The values of a new row, with those that are made for columns without one. */
  newRow(given: WriteValues, take: TakeText): RowShape | null {
    let moment: string | undefined;
    return this.#encode(given, take, ({ isTimestamp, makeDefault }) => {
      if (!isTimestamp) return makeDefault?.();
      moment ??= now();
      return moment;
    });
  }

  changes(given: WriteValues, take: TakeText): RowShape | null {
    return this.#encode(given, take, null);
  }

  attributesOf(shape: RowShape): WrittenAttribute[] {
    return this.columnsOf(shape, '1+n').map(({ attribute }) => attribute);
  }

  columnsOf(shape: RowShape, marks: '1' | '1+' | '1+n' | 'n'): readonly PlacedColumn[] {
    return this.#columns()
      .filter(({ place }) => marks.includes(shape[place] as string))
      .map((column) =>
        shape[column.place] === '+'
          ? { place: column.place, attribute: { ...column.attribute, isAdded: true } }
          : column,
      );
  }

  /** @param make the value of a column of a new row without one */
  #encode(
    given: WriteValues,
    take: TakeText,
    make: ((column: WrittenColumn) => unknown) | null,
  ): RowShape | null {
    // Sequelize takes the moment of the write instead.
    if (this.#updatedAt !== undefined && given[this.#updatedAt] !== undefined) return null;
    const last = make ? this.#lastRow : this.#lastChange;
    let isLast = true;
    let shape = '';
    for (const column of this.#columns()) {
      const mark = encodeColumn(column, given[column.attribute.name], take, make);
      if (mark === null) return null;
      if (isLast && last[column.place] === mark) continue;
      if (isLast) shape = last.slice(0, column.place);
      isLast = false;
      shape += mark;
    }
    if (isLast) return last;
    if (make) this.#lastRow = shape;
    else this.#lastChange = shape;
    return shape;
  }
}

/** Takes the text of a column, and returns its mark; null where only Sequelize can write the value. @param own the value given */
function encodeColumn(
  column: WrittenColumn,
  own: unknown,
  take: TakeText,
  make: ((column: WrittenColumn) => unknown) | null,
): string | null {
  const { type } = column.attribute;
  const value = own === undefined && make && !column.isGenerated ? make(column) : own;
  if (value === undefined) return make && column.isRequired ? null : '0';
  // A timestamp of ours is a text already.
  const isText = column.isTimestamp && typeof value === 'string';
  const encoded = isText ? ownMoment(type, value) : encodeParameter(type, value);
  const added = encoded === undefined && make === null ? addedText(value) : undefined;
  const text = encoded === undefined ? added : encoded;
  // Sequelize compares documents as JavaScript reads them, and PostgreSQL with all their digits.
  const isCompared = make === null && column.isDocument;
  if (text === undefined || (isCompared && holdsRounded(value))) return null;
  take(column, text, value);
  if (added !== undefined) return '+';
  return own === undefined && column.isTimestamp ? 'n' : '1';
}

function addedText(value: unknown): string | undefined {
  return value instanceof AddedValue && !value.isJudged ? value.amount : undefined;
}

function ownMoment(type: ColumnType, moment: string): string {
  return type.kind === 'date' && type.zone !== undefined ? localText(new Date(moment), type.zone) : moment;
}

/** Takes the text of a column. */
export type TakeText = (column: WrittenColumn, text: string | null, value: unknown) => void;

/** Puts texts into the slots of a statement for one row. */
export function intoSlots(slots: Record<string, string | null>): TakeText {
  return ({ slot }, text) => {
    slots[slot] = text;
  };
}

/** Adds texts to the values of a statement for one row. */
export function intoValues(values: (string | null)[]): TakeText {
  return (_, text) => {
    values.push(text);
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

let lastSecond = 0;
let lastText = '';

/** The moment of a write. Many rows are written in one second, and its text is worth as much as the rest of a row's. */
export function now(): string {
  const current = Date.now();
  const second = Math.floor(current / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(current).toISOString().slice(0, -'000Z'.length);
  }
  return `${lastText}${String(current - second * 1000).padStart(3, '0')}Z`;
}
