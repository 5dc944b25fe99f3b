/** The kinds of column, as plain data, and the kind of a data type of Sequelize. */
import type { DataType } from 'sequelize';
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
  /** A type that only the database understands (RANGE, GEOMETRY, HSTORE, INET …): passed through both ways. */
  | {
      readonly kind: 'other';
      readonly sqlType: string;
      /** Of a range, the type of its bounds. */
      readonly bound?: ColumnType;
    };

/** A value of one kind of `ColumnType`. */
export type ColumnKind = ColumnType['kind'];

/** The type of the values that a column is compared with: its own, or that of the elements of an array. */
export function comparedType(type: ColumnType): ColumnType {
  return type.kind === 'array' ? type.element : type;
}

/** True where one value of the type may be an array in JavaScript: JSON, or a range. */
export function mayBeArray(type: ColumnType): boolean {
  return type.kind === 'json' || (type.kind === 'other' && type.bound !== undefined);
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

/** Describes a column's type; an unknown type becomes `other` and is left to the database. */
export function introspectColumnType(dataType: DataType): ColumnType {
  const type = dataTypeInstance(dataType);
  if (typeof type === 'string') return { kind: 'other', sqlType: type };
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
      return { kind: 'other', sqlType: type.key, bound: elementType(type.options?.subtype as DataType) };
    case 'VIRTUAL':
      return { kind: 'virtual' };
    default:
      return { kind: 'other', sqlType: type.key };
  }
}
