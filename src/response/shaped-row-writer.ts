/** Rows of which code of the user's makes some properties: records for that code, and the texts of the row for the rest. */
import type { ColumnKind } from '../model/column-type.js';
import type { AttributeInfo } from '../model/model-info.js';
import type { Hydrate } from '../persistence/customization/hydrate-record.js';
import type { RecordSerializer } from './record-serializer.js';
import type { RowWriter } from './row-writer.js';
import { type TextFormat, textFormat } from './text-format.js';

/** Kinds whose values are objects. Code of the user's may change what is in one, which shows in none of its texts. */
const OBJECTS: ReadonlySet<ColumnKind> = new Set(['json', 'array', 'blob', 'other', 'virtual']);

/** A property that the text of its column is written of. */
interface TextProperty {
  readonly name: string;
  readonly index: number;
  readonly key: string;
  readonly format: TextFormat;
}

/** A property that the record is asked for, as the serializer takes its name. */
type AskedProperty = readonly [name: string];

/** What is known of the rows. */
export interface ShapedRows {
  /** One for each column. */
  readonly attributes: readonly AttributeInfo[];
  readonly parsers: readonly ((text: string) => unknown)[];
  /** The attributes of the answer. */
  readonly shown: readonly AttributeInfo[];
  /** Names of those that code of the user's makes. */
  readonly getters: readonly string[];
  readonly hydrate: Hydrate;
  readonly serialize: RecordSerializer;
}

/** The writer of such rows: the same bytes as of records that go through the serializer. */
export function shapedRowWriter({ attributes, parsers, shown, ...rows }: ShapedRows): RowWriter {
  const { getters, hydrate, serialize } = rows;
  const names = shown.map(({ name }) => name);
  const properties = shown.map((attribute): TextProperty | AskedProperty => {
    const { name, type } = attribute;
    if (getters.includes(name) || OBJECTS.has(type.kind)) return [name];
    const index = attributes.indexOf(attribute);
    const format = textFormat(type, parsers[index] as (text: string) => unknown);
    return { name, index, format, key: `${JSON.stringify(name)}:` };
  });
  const texts = properties.filter((property): property is TextProperty => !isAsked(property));
  const asked = properties.filter(isAsked);
  return (row) => {
    const record = hydrate(row) as unknown as RecordValues;
    const values = record.dataValues;
    const before = texts.map(({ name }) => comparable(values[name]));
    const answers = asked.map((name) => serialize(record, name));
    const { dataValues } = record;
    const isSame = texts.every(({ name }, place) => Object.is(before[place], comparable(dataValues[name])));
    // What a getter has changed shows in the properties behind it.
    if (!isSame) return JSON.stringify(serialize(hydrate(row), names));
    let text = '';
    let next = 0;
    for (const property of properties) {
      let part: string;
      if (isAsked(property)) {
        part = JSON.stringify(answers[next]).slice(1, -1);
        next += 1;
      } else {
        const value = row[property.index];
        part = property.key + (typeof value === 'string' ? property.format(value) : 'null');
      }
      if (part !== '') text += text === '' ? part : `,${part}`;
    }
    return `{${text}}`;
  };
}

function isAsked(property: TextProperty | AskedProperty): property is AskedProperty {
  return Array.isArray(property);
}

/** The values of a record, by attribute. */
interface RecordValues {
  readonly dataValues: Readonly<Record<string, unknown>>;
}

/** Something that is another one when the value is. What else is an object may be another at any time. */
function comparable(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'object' && value !== null ? Symbol('unknown') : value;
}
