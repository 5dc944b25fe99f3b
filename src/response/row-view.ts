/** How the rows of a resource leave: straight as JSON text, or as records where code of the user's looks at them. */
import type { Selection } from '../operation/operation.js';
import { hydrator, storedAttributes } from '../persistence/customization/hydrate-record.js';
import { needsRecords } from '../persistence/customization/model-fast-path-blockers.js';
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
  /** Whether code of the user's makes the answer of a record. It may throw, and nothing must be written then. */
  readonly runsUserCode: boolean;
  /** The columns that rows are read with: for all properties, or for some. */
  select(fields: readonly string[] | null): Selection;
  /** The same for new rows: with the primary key, which their address has, also where answers do not. */
  readonly returning: Selection;
  /** The primary key of a new row, as its address has it. */
  key(row: TextRow, parsers: TextParsers): unknown;
  /** The writer for rows with these columns, which are read by these parsers. */
  writer(parsers: TextParsers, fields?: readonly string[] | null): ItemWriter<TextRow>;
}

/** Compiles the view of a resource. */
export function compileRowView(plan: ResourcePlan, serialize: RecordSerializer): RowView {
  const { primaryKey } = plan.info;
  const properties = plainProperties(plan, serialize);
  if (!properties) return recordView(plan, serialize);
  const writers = compileRowWriters(properties);
  const columnsOf = (selected: readonly RowProperty[]) => selected.map(({ attribute }) => attribute.name);
  const columns = columnsOf(properties);
  const whole = selection(columns);
  const returning = selection([...new Set([...columns, primaryKey.name])]);
  const keyAt = returning.columns.indexOf(primaryKey.name);
  return {
    runsUserCode: false,
    select: (fields) => (fields ? { columns: columnsOf(selectedOf(properties, fields)) } : whole),
    returning,
    key: (row) => row[keyAt],
    writer(parsers, fields) {
      const text = writers(parsers, fields);
      // The values of the text are those that a serializer would make, at less cost.
      return { text, values: (row) => JSON.parse(text(row)) as WireRecord };
    },
  };
}

/** The properties of the answer; null where any of them takes more than its column. */
function plainProperties(
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

/** Through records, with their getters, and the serializer. */
function recordView({ info }: ResourcePlan, serialize: RecordSerializer): RowView {
  const attributes = storedAttributes(info);
  const whole = selection(attributes.map(({ name }) => name));
  return {
    runsUserCode: true,
    select: () => whole,
    returning: whole,
    key: (row, parsers) => hydrator(info, attributes, parsers)(row).get(info.primaryKey.name),
    writer(parsers, fields) {
      const hydrate = hydrator(info, attributes, parsers);
      const values = (row: TextRow): WireRecord => serialize(hydrate(row), fields);
      return { values, text: (row) => JSON.stringify(values(row)) };
    },
  };
}

/** Frozen, because a compiler knows it again by its identity. */
function selection(columns: readonly string[]): Selection {
  return Object.freeze({ columns: Object.freeze([...columns]) });
}
