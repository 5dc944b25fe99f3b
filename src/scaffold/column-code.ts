/** A column of a database -> the declaration of its attribute: data type, type of the field, constant default. */
import { quoted } from './code-text.js';
import type { DatabaseColumn } from './model-plan.js';

interface ColumnCode {
  /** The data type, such as `DataType.DECIMAL(10, 2)` or `'interval'`. */
  readonly type: string;
  /** The type of a value in records, without null. */
  readonly field: string;
  /** True where PostgreSQL has an order of the values, so that a list may be sorted by them. */
  readonly isOrdered: boolean;
}

/** A type that Sequelize has a class for: its name there, and the type of a value. */
const CLASSES: Readonly<Record<string, readonly [name: string, field: string, order?: 'unordered']>> = {
  smallint: ['SMALLINT', 'number'],
  integer: ['INTEGER', 'number'],
  bigint: ['BIGINT', 'string'],
  numeric: ['DECIMAL', 'string'],
  real: ['REAL', 'number'],
  'double precision': ['DOUBLE', 'number'],
  boolean: ['BOOLEAN', 'boolean'],
  uuid: ['UUID', 'string'],
  text: ['TEXT', 'string'],
  'character varying': ['STRING', 'string'],
  character: ['CHAR', 'string'],
  citext: ['CITEXT', 'string'],
  date: ['DATEONLY', 'string'],
  'time without time zone': ['TIME', 'string'],
  'timestamp with time zone': ['DATE', 'Date'],
  'timestamp without time zone': ['DATE', 'Date'],
  inet: ['INET', 'string'],
  cidr: ['CIDR', 'string'],
  macaddr: ['MACADDR', 'string'],
  json: ['JSON', 'unknown', 'unordered'],
  jsonb: ['JSONB', 'unknown', 'unordered'],
  bytea: ['BLOB', 'Buffer', 'unordered'],
  tsvector: ['TSVECTOR', 'string', 'unordered'],
};

/** A type that is declared by its name in PostgreSQL: the type of a value. */
const NAMES: Readonly<Record<string, readonly [field: string, order?: 'unordered']>> = {
  money: ['string'],
  // The driver makes objects of its own of it.
  interval: ['unknown'],
  'time with time zone': ['string'],
  macaddr8: ['string'],
  bit: ['string'],
  'bit varying': ['string'],
  oid: ['number'],
  name: ['string'],
  '"char"': ['string'],
  xid8: ['string'],
  pg_lsn: ['string'],
  ltree: ['string'],
  hstore: ['unknown', 'unordered'],
  point: ['unknown', 'unordered'],
  circle: ['unknown', 'unordered'],
};

/** Names of types whose values are texts without an order. */
const UNORDERED_TEXT =
  /^(?:xml|line|lseg|box|path|polygon|cube|tsquery|reg(?:class|type|proc|procedure|oper|role|namespace)|isbn(?:13)?|issn(?:13)?|ismn(?:13)?|ean13|upc)$/;
const RANGE = /^(?:int4|int8|num|date|ts|tstz)(?:multi)?range$/;

/** Types of extensions, whose schema may come before their name. */
const OF_EXTENSION = /^.+\.(citext|hstore|ltree|cube|is[bsm]n(?:13)?|ean13|upc)$/;

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** True where values of the type have a form in JSON. */
export function hasForm(base: string): boolean {
  const name = base.replace(OF_EXTENSION, '$1');
  const isListed = [CLASSES, NAMES].some((types) => Object.hasOwn(types, name));
  return isListed || RANGE.test(name) || UNORDERED_TEXT.test(name);
}

/** The code of a column. @param labels the name of the array of its labels, where it is an enum */
export function columnCode(column: DatabaseColumn, labels?: string): ColumnCode {
  const base = column.base.replace(OF_EXTENSION, '$1');
  const element = column.labels?.length
    ? { type: `DataType.ENUM(...${labels})`, field: 'string', isOrdered: true }
    : codeOf(base, column.type);
  if (!column.isArray) return element;
  const isClass = element.type.startsWith('DataType.');
  // Only of types with a class it is certain that records have arrays.
  const field = isClass && element.field !== 'unknown' ? `${element.field}[]` : 'unknown';
  return {
    type: isClass ? `DataType.ARRAY(${element.type})` : quoted(`${nameOf(base, column.type)}[]`),
    field,
    isOrdered: false,
  };
}

function codeOf(base: string, declared: string): ColumnCode {
  const ofClass = own(CLASSES, base);
  if (ofClass) {
    const [name, field, order] = ofClass;
    return { type: `DataType.${classCall(name, declared)}`, field, isOrdered: order === undefined };
  }
  const [field, order] = own(NAMES, base) ?? [];
  const type = quoted(nameOf(base, declared));
  if (field) return { type, field, isOrdered: order === undefined };
  if (RANGE.test(base))
    return { type, field: base.endsWith('multirange') ? 'string' : 'unknown', isOrdered: true };
  return { type, field: UNORDERED_TEXT.test(base) ? 'string' : 'unknown', isOrdered: false };
}

/** The class with the modifiers that it has a place for. */
function classCall(name: string, declared: string): string {
  const [, ...digits] = /\((\d+)(?:,(-?\d+))?\)/.exec(declared) ?? [];
  const [first, second] = digits;
  if (name === 'DECIMAL') {
    // A scale below zero, which PostgreSQL 15 brought, means more than Sequelize can write.
    if (first === undefined || second?.startsWith('-')) return name;
    return second === undefined ? `DECIMAL(${first})` : `DECIMAL(${first}, ${second})`;
  }
  if (name === 'STRING') return first === undefined ? 'TEXT' : `STRING(${first})`;
  if (name === 'CHAR') return first === undefined ? 'TEXT' : `CHAR(${first})`;
  return name;
}

/** The name of the type in PostgreSQL, as an attribute declares it. */
function nameOf(base: string, declared: string): string {
  if (base === 'time with time zone') return 'timetz';
  const [length] = /\(\d+\)/.exec(declared) ?? [];
  return /^bit(?: varying)?$/.test(base) && length ? `${base}${length}` : base;
}

const TEXT = /^'((?:[^']|'')*)'::(?:text|character varying|bpchar|citext|[\w."]+)$/;
const WHOLE: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint']);
const NUMBER = /^\(?'?(-?\d+(?:\.\d+)?)'?\)?(?:::[a-z ]+)?$/;

/** Code of the value that the column has by default; undefined where PostgreSQL makes it anew, and where there is none. */
export function constantDefault(column: DatabaseColumn): string | undefined {
  const { defaultSql: sql, base, isArray, isGenerated, identity, labels } = column;
  if (sql === null || isArray || isGenerated || identity) return undefined;
  const [name, field] = own(CLASSES, base) ?? [];
  const [, text] = TEXT.exec(sql) ?? [];
  const value = text?.replaceAll("''", "'");
  // A text with a backslash is no plain literal.
  if (value?.includes('\\')) return undefined;
  if (labels) return value !== undefined && labels.includes(value) ? quoted(value) : undefined;
  if (name === 'BOOLEAN') return sql === 'true' || sql === 'false' ? sql : undefined;
  if (['TEXT', 'STRING', 'CITEXT'].includes(name ?? ''))
    return value === undefined ? undefined : quoted(value);
  const [, digits] = NUMBER.exec(sql) ?? [];
  // PostgreSQL rounds values with decimals.
  if (digits === undefined || (digits.includes('.') && WHOLE.has(base))) return undefined;
  if (name === 'BIGINT' || name === 'DECIMAL') return quoted(digits);
  return field === 'number' && String(Number(digits)) === digits ? digits : undefined;
}
