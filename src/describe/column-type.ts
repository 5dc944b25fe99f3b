/** The kinds of column, as plain data, and the kind of a data type of Sequelize. */
import type { DataType } from 'sequelize';
import { type NamedType, namedTypeOf } from '../declare/named-types.js';
import { type DataTypeInstance, dataTypeInstance } from './sequelize-internals.js';

/** Type of the values of a column. Everything that depends on a column's type switches over `kind`. */
export type ColumnType =
  | { readonly kind: 'string'; readonly maxLength: number | null }
  | { readonly kind: 'integer'; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'bigint' }
  /** The digits that both the attribute and its column hold, as soon as the catalogue was read. */
  | { readonly kind: 'decimal'; readonly precision: number | null; readonly scale: number | null }
  /** A number of JSON is neither NaN nor infinite. */
  | { readonly kind: 'float'; readonly maximum: number; readonly isOfJson?: true }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'date';
      /** True where answers and bodies have microseconds: for elements of an array. */
      readonly isPrecise?: true;
      /** Digits of the second that the attribute declares. Default: all. */
      readonly digits?: number;
      /** The zone whose clock a column without a zone has, as soon as the catalogue says that it is one. */
      readonly zone?: string | undefined;
    }
  | { readonly kind: 'dateonly' }
  | {
      readonly kind: 'time';
      /** Digits of the second that the column holds, where the catalogue says that these are fewer than six. */
      readonly digits?: number | undefined;
    }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'json' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'array'; readonly element: ColumnType }
  | { readonly kind: 'blob' }
  | { readonly kind: 'virtual' }
  | {
      readonly kind: 'range';
      readonly bound: ColumnType;
      /** True where the attribute declares it as a text: then records hold texts in the place of Sequelize's arrays. */
      readonly isText?: true;
    }
  | { readonly kind: 'multirange'; readonly bound: ColumnType }
  | { readonly kind: 'network'; readonly form: NetworkForm }
  | { readonly kind: 'interval' }
  | {
      readonly kind: 'money';
      /** The text of `MONEY_SAMPLE`, as soon as the catalogue was read. */
      readonly sample?: string | undefined;
    }
  | { readonly kind: 'bit'; readonly length: number | null; readonly isVarying: boolean }
  /** A type whose values are the texts that PostgreSQL writes. */
  | { readonly kind: 'named'; readonly name: NamedType }
  | { readonly kind: 'hstore' }
  /** A type that only the database understands (GEOMETRY, a row type …): passed through both ways. */
  | { readonly kind: 'other'; readonly sqlType: string };

/** The types of addresses. */
export type NetworkForm = 'inet' | 'cidr' | 'macaddr' | 'macaddr8';

/** A value of one kind of `ColumnType`. */
export type ColumnKind = ColumnType['kind'];

/** The type of the values that a column is compared with: its own, or that of the elements of an array. */
export function comparedType(type: ColumnType): ColumnType {
  return type.kind === 'array' ? type.element : type;
}

/** True where one value of the type may be an array in JavaScript: JSON, or a range. */
export function mayBeArray({ kind }: ColumnType): boolean {
  return kind === 'json' || kind === 'range';
}

/** True for ranges and for sets of them. */
export function isRangeType({ kind }: ColumnType): boolean {
  return kind === 'range' || kind === 'multirange';
}

/** Kinds of numbers. */
export const NUMBERS: readonly ColumnKind[] = ['integer', 'bigint', 'decimal', 'float'];

/** The type of the elements of an array of any depth; any other type is its own. PostgreSQL has one type for arrays of all depths. */
export function innermostType(type: ColumnType): ColumnType {
  return type.kind === 'array' ? innermostType(type.element) : type;
}

const integer = (minimum: number, maximum: number): ColumnType =>
  Object.freeze({ kind: 'integer', minimum, maximum });

const INT2 = integer(-32768, 32767);
const INT4 = integer(-2147483648, 2147483647);
const REAL: ColumnType = Object.freeze({ kind: 'float', maximum: 3.4028234663852886e38 });
const DOUBLE: ColumnType = Object.freeze({ kind: 'float', maximum: Number.MAX_VALUE });

/** The numbers of columns that hold fewer of them than an attribute may declare, by the names that PostgreSQL has for them. */
export const NARROW_NUMBERS: ReadonlyMap<string | undefined, ColumnType> = new Map([
  ['smallint', INT2],
  ['integer', INT4],
  ['bigint', { kind: 'bigint' }],
  ['real', REAL],
]);

/** PostgreSQL stores `FLOAT(n)` as `real` up to a precision of 24 bits, and as `double precision` above. */
function floatType({ _length: length }: DataTypeInstance): ColumnType {
  return typeof length === 'number' && length <= 24 ? REAL : DOUBLE;
}

/**
 * True where a column is JSONB. PostgreSQL parses its values; of JSON it keeps the text, some of which it cannot parse.
 */
export function isJsonb(dataType: DataType): boolean {
  const type = dataTypeInstance(dataType);
  return typeof type !== 'string' && type.key === 'JSONB';
}

function elementType(dataType: DataType): ColumnType {
  const type = introspectColumnType(dataType);
  return type.kind === 'date' ? { ...type, isPrecise: true } : type;
}

const BOUNDS: Readonly<Record<string, ColumnType>> = {
  int4: INT4,
  int8: { kind: 'bigint' },
  num: { kind: 'decimal', precision: null, scale: null },
  date: { kind: 'dateonly' },
  ts: { kind: 'date', isPrecise: true },
  tstz: { kind: 'date', isPrecise: true },
};

/** The names of PostgreSQL's types, as `@Column('bit varying(8)')` has them: a name, a number of digits, arrays. */
const NAMED =
  /^(?:(int4|int8|num|date|ts|tstz)(multi)?range|(inet|cidr|macaddr8?)|(interval)\b[a-z ]*|(money)|(bit varying|varbit|bit))(?: ?\((\d+)\))?((?:\[\])*)$/;

/** A type that Sequelize lacks, by the name that it has in PostgreSQL; `other` where it is no name of a type that is described here. */
function namedType(sqlType: string): ColumnType {
  const spelled = sqlType.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  const name = namedTypeOf(spelled.replace(/(?:\[\])+$/, ''));
  if (name && !spelled.endsWith('[]')) return { kind: 'named', name };
  if (spelled === 'oid') return integer(0, 4_294_967_295);
  if (spelled === 'hstore') return { kind: 'hstore' };
  const [, subtype, multi, network, interval, money, bit, length, arrays] = NAMED.exec(spelled) ?? [];
  if (arrays || (name && spelled.endsWith('[]')))
    return { kind: 'array', element: Object.freeze(namedType(sqlType.replace(/(?:\[\])+\s*$/, ''))) };
  const bound = BOUNDS[subtype ?? ''];
  if (bound) return multi ? { kind: 'multirange', bound } : { kind: 'range', bound, isText: true };
  if (network) return { kind: 'network', form: network as NetworkForm };
  if (interval) return { kind: 'interval' };
  if (money) return { kind: 'money' };
  if (bit === 'bit') return { kind: 'bit', length: Number(length ?? 1), isVarying: false };
  if (bit) return { kind: 'bit', length: length === undefined ? null : Number(length), isVarying: true };
  return { kind: 'other', sqlType };
}

/** The type in a sentence. */
export function typeWord(type: ColumnType): string {
  return type.kind === 'named' ? type.name : type.kind;
}

const TEXT: ColumnType = { kind: 'string', maxLength: null };

/** Types without options, by the names that Sequelize has for them. */
const PLAIN: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ['TEXT', TEXT],
  ['CITEXT', TEXT],
  ['TINYINT', INT2],
  ['SMALLINT', INT2],
  ['MEDIUMINT', INT4],
  ['INTEGER', INT4],
  ['BIGINT', { kind: 'bigint' }],
  ['REAL', REAL],
  ['DOUBLE PRECISION', DOUBLE],
  ['BOOLEAN', { kind: 'boolean' }],
  ['DATEONLY', { kind: 'dateonly' }],
  ['TIME', { kind: 'time' }],
  ['UUID', { kind: 'uuid' }],
  ['UUIDV1', { kind: 'uuid' }],
  ['UUIDV4', { kind: 'uuid' }],
  ['JSON', { kind: 'json' }],
  ['JSONB', { kind: 'json' }],
  ['BLOB', { kind: 'blob' }],
  ['VIRTUAL', { kind: 'virtual' }],
  // Sequelize reads and writes objects, with a package of its own.
  ['HSTORE', { kind: 'other', sqlType: 'HSTORE' }],
]);

/** Describes a column's type; an unknown type becomes `other` and is left to the database. */
export function introspectColumnType(dataType: DataType): ColumnType {
  const type = dataTypeInstance(dataType);
  if (typeof type === 'string') return namedType(type);
  switch (type.key) {
    case 'STRING':
    case 'CHAR':
      return type._binary ? { kind: 'blob' } : { kind: 'string', maxLength: Number(type._length) };
    case 'DECIMAL':
      // DECIMAL(5) is DECIMAL(5, 0) in PostgreSQL; a bare DECIMAL has no limit.
      return {
        kind: 'decimal',
        precision: type._precision ?? null,
        scale: type._scale ?? (type._precision === undefined ? null : 0),
      };
    case 'DATE': {
      const { length: digits } = type.options ?? {};
      return { kind: 'date', ...(digits === undefined ? {} : { digits }) };
    }
    case 'FLOAT':
      return floatType(type);
    case 'ENUM':
      return { kind: 'enum', values: Object.freeze([...(type.values ?? [])]) };
    case 'ARRAY':
      return { kind: 'array', element: Object.freeze(elementType(type.type as DataType)) };
    case 'RANGE':
      return { kind: 'range', bound: Object.freeze(elementType(type.options?.subtype as DataType)) };
    default:
      return PLAIN.get(type.key) ?? namedType(type.key);
  }
}

/** True where a `varchar` of this length holds a text. PostgreSQL counts code points, of which a text has at most as many as UTF-16 code units. */
export function fitsLength(text: string, maximum: number): boolean {
  return text.length <= maximum || [...text].length <= maximum;
}
