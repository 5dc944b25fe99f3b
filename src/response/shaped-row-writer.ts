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
    const record = hydrate(row);
    const before: Values = { ...record.dataValues };
    const moments = texts.map(({ name }) => momentOf(before[name]));
    const answers = asked.map((name) => serialize(record, name));
    // What a getter has changed shows in the properties behind it.
    if (hasChanged(record.dataValues, before, moments)) return JSON.stringify(serialize(hydrate(row), names));
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

  function hasChanged(after: Values, before: Values, moments: readonly (number | undefined)[]): boolean {
    for (let place = 0; place < texts.length; place += 1) {
      const { name } = texts[place] as TextProperty;
      const value = after[name];
      if (value !== before[name] || (typeof value === 'object' && momentOf(value) !== moments[place]))
        return true;
    }
    return false;
  }
}

/** What tells whether an object is as it was; of what is neither a moment nor NULL nothing does. */
function momentOf(value: unknown): number | undefined {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'object' && value !== null ? Number.NaN : undefined;
}

function isAsked(property: TextProperty | AskedProperty): property is AskedProperty {
  return Array.isArray(property);
}

/** The values of a record, by attribute. */
type Values = Readonly<Record<string, unknown>>;
