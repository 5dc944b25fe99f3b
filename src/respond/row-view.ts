/** Writes the rows of a resource: as JSON text, or as records where code of the user's reads them. */

import type { ResourcePlan } from '../compile/resource-plan.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { hasJsonForm } from '../describe/record.js';
import { idOf, isOfTexts } from '../describe/row-key.js';
import {
  type Hydrate,
  hydrator,
  pristineRow,
  type RecordColumns,
  storedAttributes,
} from '../execute/customization/hydrate-record.js';
import { gettersOf, needsRecords } from '../execute/customization/model-fast-path-blockers.js';
import type { TextParser, TextRow } from '../postgres/index.js';
import { readableAttributes } from '../schema/derive-class.js';
import { isTransformed } from '../schema/model-decorators.js';
import { plainNames } from '../schema/read-through-class.js';
import { perPair } from '../util/memo.js';
import type { RecordSerializer, WireRecord } from './record-serializer.js';
import { type TextFormat, textFormat } from './text-format.js';
import type { WireFormat } from './wire-format.js';

/** Names of properties; null is all of them. */
type Fields = readonly string[] | null;

type TextParsers = readonly TextParser[];

/**
 * Writes a row as a JSON object.
 *
 * @param more JSON of members behind the properties
 */
type RowWriter = (row: TextRow, more?: string) => string;

/** The JSON text of an object with more members behind its own. */
export function withMembers(text: string, more: string): string {
  if (more === '') return text;
  return text === '{}' ? `{${more}}` : `${text.slice(0, -1)},${more}}`;
}

interface RowProperty {
  readonly name: string;
  readonly attribute: AttributeInfo;
  /** Format of the driver's value. Default: the format of the column. */
  readonly toWire?: WireFormat;
}

/** A property of rows, and the format of its column. */
export interface PropertyFormat {
  readonly name: string;
  /** Writes a value that is not NULL as JSON text. */
  readonly format: TextFormat;
}

/** Finds the formats of rows that have a column for each property, or for each that is among the fields; the same for the same objects. */
function compileFormats(properties: readonly RowProperty[]) {
  const formatOf = perPair(({ attribute, toWire }: RowProperty, parser: TextParser | null) =>
    textFormat(attribute.type, parser as TextParser, toWire),
  );
  // The parsers are the same as long as the table has the same types.
  return perPair((parsers: TextParsers, fields: Fields): readonly PropertyFormat[] =>
    selectedOf(properties, fields).map((property, index) => ({
      name: property.name,
      format: formatOf(property, parsers[index] as TextParser),
    })),
  );
}

/** Finds the writer of rows by their formats. */
function compileRowWriters(formatsOf: ReturnType<typeof compileFormats>) {
  return perPair((parsers: TextParsers, fields: Fields) => writer(formatsOf(parsers, fields)));
}

/** Selected properties, in their own order. */
function selectedOf(properties: readonly RowProperty[], fields: Fields): readonly RowProperty[] {
  return fields ? properties.filter(({ name }) => fields.includes(name)) : properties;
}

function writer(properties: readonly PropertyFormat[]): RowWriter {
  const formats = properties.map(({ format }) => format);
  const keys = properties.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row, more = '') => {
    let text = '';
    for (let index = 0; index < keys.length; index += 1) {
      const value = row[index];
      const json = value === null || value === undefined ? 'null' : (formats[index] as TextFormat)(value);
      text += keys[index] + json;
    }
    if (text === '' || more === '') return `${text || '{'}${more}}`;
    return `${text},${more}}`;
  };
}

/** View of the rows of a resource. */
export interface RowView {
  /** The attributes that rows are read with, in order: for all properties, or for some. */
  columnsOf(fields: Fields): readonly string[];
  /** True where records are made of the rows. */
  readonly isOfRecords: boolean;
  /** True where code of the user's makes the answer of a record. It may throw, and nothing must be written then. */
  readonly runsUserCode: boolean;
  /** The writer for rows whose columns are read by these parsers: of all properties, or of some. */
  writer(
    parsers: TextParsers,
    fields?: Fields,
  ): {
    readonly text: RowWriter;
    /** Several as plain values, for code that reads them. */
    values(rows: readonly TextRow[]): readonly WireRecord[];
  };
  /** Formats of the columns, in order: for all properties, or for some; null where records are made of the rows. */
  formats(parsers: TextParsers, fields?: Fields): readonly PropertyFormat[] | null;
  /** The text of a record that is as it was read, without its accessors; null where its values have to be read. */
  ofRecord(record: object, fields: readonly string[] | null | undefined): string | null;
  /** The value that addresses a row; it follows the columns of the properties where it is none of theirs. */
  key(row: TextRow, parsers: TextParsers, fields?: Fields): unknown;
}

/** Compiles the view of a resource. The value that addresses a record is read where answers do not have it, too. */
export function compileRowView(plan: ResourcePlan, serialize: RecordSerializer): RowView {
  const { address } = plan.info;
  const [first, ...others] = address;
  const only = others.length === 0 ? first : undefined;
  const shown = plainColumns(plan, serialize);
  if (!shown) return recordView(plan, serialize);
  const formats = compileFormats(shown);
  const writers = compileRowWriters(formats);
  const whole = namesOf([...new Set([...shown.map(({ attribute }) => attribute), ...address])]);
  const columnsOf = (fields: Fields) =>
    fields ? namesOf(selectedOf(shown, fields).map(({ attribute }) => attribute)) : whole;
  const keyAt = (columns: readonly string[], name: string) =>
    columns.includes(name) ? columns.indexOf(name) : columns.length + missing(columns).indexOf(name);
  const missing = (columns: readonly string[]) => namesOf(address).filter((name) => !columns.includes(name));
  return {
    columnsOf,
    isOfRecords: false,
    runsUserCode: false,
    key(row, _parsers, fields = null) {
      const columns = columnsOf(fields);
      return only ? row[keyAt(columns, only.name)] : idOf(address, (name) => row[keyAt(columns, name)]);
    },
    formats: (parsers, fields = null) => formats(parsers, fields),
    ofRecord: pristineWriter(plan.model, shown, writers),
    writer(parsers, fields) {
      const text = writers(parsers, fields);
      // The values of the text are those that a serializer would make, at less cost.
      return {
        text,
        values: (rows) => JSON.parse(`[${rows.map((row) => text(row)).join()}]`) as WireRecord[],
      };
    },
  };
}

/** The properties of the answer; null where any of them takes more than its column. */
function plainColumns(
  { info, exposure, explicitSchemas: { read } }: ResourcePlan,
  serialize: RecordSerializer,
): readonly RowProperty[] | null {
  const readable = readableAttributes(info, exposure);
  if (!read) {
    const isShaped =
      needsRecords(info, [...readable, ...info.address]) ||
      readable.some(({ name }) => isTransformed(info.model, name, 'read'));
    return isShaped ? null : readable.map((attribute) => ({ name: attribute.name, attribute }));
  }
  const shown = plainNames(read, new Set(info.attributes.keys()));
  const attributes = [...(shown?.keys() ?? [])].map((property) => info.attributes.get(property));
  const known = attributes.filter((attribute) => attribute !== undefined);
  if (!shown || known.length < shown.size || needsRecords(info, [...known, ...info.address])) return null;
  return known.map((attribute) => {
    const name = shown.get(attribute.name) as string;
    // The driver may parse a text into an object, which class-transformer walks; JSON goes around it.
    const throughClass = (value: unknown): unknown => serialize({ [attribute.name]: value })[name];
    return { name, attribute, ...(attribute.type.kind === 'json' ? {} : { toWire: throughClass }) };
  });
}

/** Writes records of a model from their rows, whose columns may be in another order. */
function pristineWriter(
  model: object,
  shown: readonly RowProperty[],
  writers: ReturnType<typeof compileRowWriters>,
): RowView['ofRecord'] {
  const writerOf = perPair(({ info, attributes, parsers }: RecordColumns, fields: Fields) => {
    const selected = selectedOf(shown, fields);
    const positions = selected.map(({ attribute }) =>
      attributes.findIndex(({ name }) => name === attribute.name),
    );
    // A record that was read with less has no value for the rest, which is no null.
    if (info.model !== model || positions.includes(-1)) return null;
    const ordered = positions.map((position) => parsers[position] as TextParsers[number]);
    const write = writers(ordered, fields);
    if (positions.every((position, index) => position === index)) return write;
    return (row: TextRow) => write(positions.map((position) => row[position] ?? null));
  });
  return (record, fields) => {
    const pristine = pristineRow(record);
    return pristine && (writerOf(pristine.columns, fields)?.(pristine.row) ?? null);
  };
}

/** Through records, with their getters, and the serializer. */
function recordView(plan: ResourcePlan, serialize: RecordSerializer): RowView {
  const { info, exposure, explicitSchemas } = plan;
  const attributes = storedAttributes(info);
  const whole = namesOf(attributes);
  const readable = readableAttributes(info, exposure);
  const isByClass =
    explicitSchemas.read !== null || readable.some(({ name }) => isTransformed(info.model, name, 'read'));
  const hydratorFor = perPair((parsers: TextParsers): Hydrate => hydrator({ info, attributes, parsers }));
  return {
    // A getter may read any column.
    columnsOf: () => whole,
    isOfRecords: true,
    // Virtual attributes without getters are values like others.
    runsUserCode:
      isByClass || hasJsonForm(info.model) || gettersOf(info, [...readable, ...info.address]).length > 0,
    formats: () => null,
    ofRecord: () => null,
    key(row, parsers) {
      const record = isOfTexts(info.address) ? null : hydratorFor(parsers)(row);
      // Texts have the microseconds that records have not.
      return idOf(info.address, (name) => (record ? record.get(name) : row[whole.indexOf(name)]));
    },
    writer(parsers, fields = null) {
      const hydrate = hydratorFor(parsers);
      const value = (row: TextRow) => serialize(hydrate(row), fields);
      return {
        text: (row, more = '') => withMembers(JSON.stringify(value(row)), more),
        values: (rows) => rows.map(value),
      };
    },
  };
}

function namesOf(attributes: readonly AttributeInfo[]): readonly string[] {
  return attributes.map(({ name }) => name);
}
