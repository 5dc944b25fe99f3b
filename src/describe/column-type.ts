/** The kinds of column, as plain data, and the kind of a data type of Sequelize. */
import type { DataType } from 'sequelize';
import { type NamedType, namedTypeOf } from '../declare/named-types.js';
import { type DataTypeInstance, dataTypeInstance } from './sequelize-internals.js';

/** Type of the values of a column. Everything that depends on a column's type switches over `kind`. */
export type ColumnType =
  | { readonly kind: 'string'; readonly maxLength: number | null }
  | { readonly kind: 'integer'; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'bigint' }
  | { readonly kind: 'decimal'; readonly precision: number | null; readonly scale: number | null }
  | { readonly kind: 'float'; readonly maximum: number }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'date';
      /** True where answers and bodies have microseconds: for elements of an array. */
      readonly isPrecise?: true;
      /** The zone whose clock a column without a zone has, as soon as the catalogue says that it is one. */
      readonly zone?: string | undefined;
    }
  | { readonly kind: 'dateonly' }
  | { readonly kind: 'time' }
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

const INTEGER_RANGES: Readonly<Record<string, readonly [minimum: number, maximum: number]>> = {
  TINYINT: [-32768, 32767],
  SMALLINT: [-32768, 32767],
  MEDIUMINT: [-2147483648, 2147483647],
  INTEGER: [-2147483648, 2147483647],
};

const REAL_MAXIMUM = 3.4028234663852886e38;
const DOUBLE_MAXIMUM = Number.MAX_VALUE;

/** PostgreSQL stores `FLOAT(n)` as `real` up to a precision of 24 bits, and as `double precision` above. */
function floatMaximum(type: DataTypeInstance): number {
  return typeof type._length === 'number' && type._length <= 24 ? REAL_MAXIMUM : DOUBLE_MAXIMUM;
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

const MAX_OID = 4_294_967_295;

const BOUNDS: Readonly<Record<string, ColumnType>> = {
  int4: { kind: 'integer', minimum: -2147483648, maximum: 2147483647 },
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
  if (spelled === 'oid') return { kind: 'integer', minimum: 0, maximum: MAX_OID };
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

/** Describes a column's type; an unknown type becomes `other` and is left to the database. */
export function introspectColumnType(dataType: DataType): ColumnType {
  const type = dataTypeInstance(dataType);
  if (typeof type === 'string') return namedType(type);
  switch (type.key) {
    case 'STRING':
    case 'CHAR':
      return type._binary ? { kind: 'blob' } : { kind: 'string', maxLength: Number(type._length) };
    case 'TEXT':
    case 'CITEXT':
      return { kind: 'string', maxLength: null };
    case 'TINYINT':
    case 'SMALLINT':
    case 'MEDIUMINT':
    case 'INTEGER': {
      const [minimum, maximum] = INTEGER_RANGES[type.key] as readonly [number, number];
      return { kind: 'integer', minimum, maximum };
    }
    case 'BIGINT':
      return { kind: 'bigint' };
    case 'DECIMAL':
      // DECIMAL(5) is DECIMAL(5, 0) in PostgreSQL; a bare DECIMAL has no limit.
      return {
        kind: 'decimal',
        precision: type._precision ?? null,
        scale: type._scale ?? (type._precision === undefined ? null : 0),
      };
    case 'FLOAT':
      return { kind: 'float', maximum: floatMaximum(type) };
    case 'REAL':
      return { kind: 'float', maximum: REAL_MAXIMUM };
    case 'DOUBLE PRECISION':
      return { kind: 'float', maximum: DOUBLE_MAXIMUM };
    case 'BOOLEAN':
      return { kind: 'boolean' };
    case 'DATE':
      return { kind: 'date' };
    case 'DATEONLY':
      return { kind: 'dateonly' };
    case 'TIME':
      return { kind: 'time' };
    case 'UUID':
    case 'UUIDV1':
    case 'UUIDV4':
      return { kind: 'uuid' };
    case 'JSON':
    case 'JSONB':
      return { kind: 'json' };
    case 'ENUM':
      return { kind: 'enum', values: Object.freeze([...(type.values ?? [])]) };
    case 'ARRAY':
      return { kind: 'array', element: Object.freeze(elementType(type.type as DataType)) };
    case 'BLOB':
      return { kind: 'blob' };
    case 'RANGE':
      return { kind: 'range', bound: Object.freeze(elementType(type.options?.subtype as DataType)) };
    case 'VIRTUAL':
      return { kind: 'virtual' };
    case 'HSTORE':
      // Sequelize reads and writes objects, with a package of its own.
      return { kind: 'other', sqlType: type.key };
    default:
      return namedType(type.key);
  }
}
