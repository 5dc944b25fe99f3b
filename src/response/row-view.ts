/** How the rows of a resource leave: straight as JSON text, or as records where code of the user's looks at them. */
import type { AttributeInfo } from '../model/model-info.js';
import { hydrator, storedAttributes } from '../persistence/customization/hydrate-record.js';
import { gettersOf, needsRecords } from '../persistence/customization/model-fast-path-blockers.js';
import type { TextRow } from '../persistence/protocol/batch.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import { readableAttributes } from '../schema/derive-read-class.js';
import { hasTransform } from '../schema/model-decorators.js';
import { plainNames } from '../schema/read-through-class.js';
import type { RecordSerializer, WireRecord } from './record-serializer.js';
import { compileRowWriters, type RowProperty, selectedOf } from './row-writer.js';

/** How one item of an answer leaves. */
export interface ItemWriter<Item> {
  /** As JSON text. */
  text(item: Item): string;
  /** As plain values, for code that looks at them. */
  values(item: Item): WireRecord;
}

type TextParsers = readonly ((text: string) => unknown)[];

/** How the rows of a resource leave. */
export interface RowView {
  /** The attributes that rows are read with, in order: for all properties, or for some. */
  columnsOf(fields: readonly string[] | null): readonly string[];
  /** Whether records are made of the rows. */
  readonly isOfRecords: boolean;
  /** Whether code of the user's makes the answer of a record. It may throw, and nothing must be written then. */
  readonly runsUserCode: boolean;
  /** The writer for rows whose columns are read by these parsers: of all properties, or of some. */
  writer(parsers: TextParsers, fields?: readonly string[] | null): ItemWriter<TextRow>;
  /** The primary key of a row with all columns, as an address has it. */
  key(row: TextRow, parsers: TextParsers): unknown;
}

/** Compiles the view of a resource. The address of what was created has the primary key, also where answers do not. */
export function compileRowView(plan: ResourcePlan, serialize: RecordSerializer): RowView {
  const { primaryKey } = plan.info;
  const shown = plainColumns(plan, serialize);
  if (!shown) return recordView(plan, serialize, runsUserCode(plan));
  const writers = compileRowWriters(shown);
  const whole = namesOf([...new Set([...shown.map(({ attribute }) => attribute), primaryKey])]);
  const keyAt = whole.indexOf(primaryKey.name);
  return {
    columnsOf: (fields) =>
      fields ? namesOf(selectedOf(shown, fields).map(({ attribute }) => attribute)) : whole,
    isOfRecords: false,
    runsUserCode: false,
    key: (row) => row[keyAt],
    writer(parsers, fields) {
      const text = writers(parsers, fields);
      // The values of the text are those that a serializer would make, at less cost.
      return { text, values: (row) => JSON.parse(text(row)) as WireRecord };
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
      needsRecords(info, [...readable, info.primaryKey]) ||
      readable.some(({ name }) => hasTransform(info, name, 'read'));
    return isShaped ? null : readable.map((attribute) => ({ name: attribute.name, attribute }));
  }
  const shown = plainNames(read, new Set(info.attributes.keys()));
  const attributes = [...(shown?.keys() ?? [])].map((property) => info.attributes.get(property));
  const known = attributes.filter((attribute) => attribute !== undefined);
  if (!shown || known.length < shown.size || needsRecords(info, [...known, info.primaryKey])) return null;
  return known.map((attribute) => {
    const name = shown.get(attribute.name) as string;
    // What the driver makes of a text may be an object, which class-transformer walks; JSON goes around it.
    const throughClass = (value: unknown): unknown => serialize({ [attribute.name]: value })[name];
    return { name, attribute, ...(attribute.type.kind === 'json' ? {} : { toWire: throughClass }) };
  });
}

/** Whether it is more than virtual attributes without getters that takes records. */
function runsUserCode({ info, exposure, explicitSchemas }: ResourcePlan): boolean {
  const readable = readableAttributes(info, exposure);
  return (
    explicitSchemas.read !== null ||
    gettersOf(info, [...readable, info.primaryKey]).length > 0 ||
    readable.some(({ name }) => hasTransform(info, name, 'read'))
  );
}

/** Through records, with their getters, and the serializer. */
function recordView({ info }: ResourcePlan, serialize: RecordSerializer, runsUserCode: boolean): RowView {
  const attributes = storedAttributes(info);
  const whole = namesOf(attributes);
  return {
    // A getter may look at anything.
    columnsOf: () => whole,
    isOfRecords: true,
    runsUserCode,
    key: (row, parsers) => hydrator(info, attributes, parsers)(row).get(info.primaryKey.name),
    writer(parsers, fields) {
      const hydrate = hydrator(info, attributes, parsers);
      const values = (row: TextRow): WireRecord => serialize(hydrate(row), fields);
      return { values, text: (row) => JSON.stringify(values(row)) };
    },
  };
}

function namesOf(attributes: readonly AttributeInfo[]): readonly string[] {
  return attributes.map(({ name }) => name);
}
