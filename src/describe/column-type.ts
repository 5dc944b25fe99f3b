/** The kinds of column the library knows, as plain data. */

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
