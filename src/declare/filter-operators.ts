/** The comparison operators of `q`, one row each: all facts of an operator. A new operator is a new row. */

/** Columns that have an operator: all, those whose values are equal or not, have an order, are texts, arrays of such values, or networks. */
type Columns = 'all' | 'equal' | 'ordered' | 'text' | 'array' | 'network';

/** Operand of an operator: one value, two, any number, a pattern with `*`, true and false, a value or a part of a range, or a network. */
export type OperandKind = 'value' | 'pair' | 'list' | 'pattern' | 'truth' | 'part' | 'network';

/** All of one operator. */
export interface OperatorRow {
  readonly on: Columns;
  readonly takes: OperandKind;
  /** Other spellings in `q` and `filterAllow`. The words are those of rsql-jpa-specification, so that its clients find theirs. */
  readonly aliases?: readonly string[];
  /** The condition: `{column}`, `{value}`, `{high}` of a pair, and `{list}`, an array. Operators of `truth` have one for each value. */
  readonly sql: string | { readonly true: string; readonly false: string };
  /** The method of an index that serves it. Default: btree. */
  readonly index?: 'gin' | 'gist';
  /** A sentence of the document, where a resource has the operator. */
  readonly note?: string;
  /** The operator of columns of ranges and multiranges; left out where they have none that differs from that of others. */
  readonly ofRange?: Pick<OperatorRow, 'takes' | 'sql' | 'index' | 'note'>;
}

function rows<const T extends Readonly<Record<string, OperatorRow>>>(table: T): T {
  return table;
}

function between<const A extends string>(alias: A, word: string) {
  const sql = `{column} ${word} {value} AND {high}`;
  return { on: 'ordered', takes: 'pair', aliases: [alias], sql } as const;
}

function like<const A extends string>(alias: A, word: string) {
  return { on: 'text', takes: 'pattern', aliases: [alias], sql: `{column} ${word} {value}` } as const;
}

/** The operators, in the order of the documentation. */
const OPERATOR_TABLE = rows({
  '==': { on: 'equal', takes: 'value', sql: '{column} = {value}' },
  '!=': { on: 'equal', takes: 'value', sql: '{column} <> {value}' },
  // A list is one array, so that a list of any length is the same statement.
  '=in=': { on: 'equal', takes: 'list', sql: '{column} = ANY({list})' },
  '=out=': { on: 'equal', takes: 'list', sql: '{column} <> ALL({list})' },
  // Named in full: the extension intarray has operators of the same names, which fail where an element is NULL.
  '=contains=': {
    on: 'array',
    takes: 'list',
    sql: '{column} OPERATOR(pg_catalog.@>) {list}',
    index: 'gin',
    note: '`=contains=(a,b)` is an array with all of the values.',
    // An element is written as the range of that value alone, which needs no type of its own.
    ofRange: {
      takes: 'part',
      sql: '{column} OPERATOR(pg_catalog.@>) {value}',
      index: 'gist',
      note: '`=contains=5` is a range that holds the value, and `=contains="[1,5)"` one that holds all of another range.',
    },
  },
  '=overlaps=': {
    on: 'array',
    takes: 'list',
    sql: '{column} OPERATOR(pg_catalog.&&) {list}',
    index: 'gin',
    note: '`=overlaps=(a,b)` is an array with any of the values.',
    ofRange: {
      takes: 'value',
      sql: '{column} OPERATOR(pg_catalog.&&) {value}',
      index: 'gist',
      note: '`=overlaps="[1,5)"` is a range that has a value in common with another.',
    },
  },
  '=within=': {
    on: 'network',
    takes: 'network',
    sql: '{column} <<= {value}',
    note: '`=within=10.0.0.0/8` is an address in a network, or the network itself.',
    ofRange: {
      takes: 'value',
      sql: '{column} OPERATOR(pg_catalog.<@) {value}',
      index: 'gist',
      note: '`=within="[1,5)"` is a range all of which is in another.',
    },
  },
  '=isempty=': {
    on: 'array',
    takes: 'truth',
    sql: { true: "{column} = '{}'", false: "{column} <> '{}'" },
    index: 'gin',
  },
  '=isnull=': {
    on: 'all',
    takes: 'truth',
    aliases: ['=null='],
    sql: { true: '{column} IS NULL', false: '{column} IS NOT NULL' },
  },
  '=lt=': { on: 'ordered', takes: 'value', aliases: ['<'], sql: '{column} < {value}' },
  '=le=': { on: 'ordered', takes: 'value', aliases: ['<='], sql: '{column} <= {value}' },
  '=gt=': { on: 'ordered', takes: 'value', aliases: ['>'], sql: '{column} > {value}' },
  '=ge=': { on: 'ordered', takes: 'value', aliases: ['>='], sql: '{column} >= {value}' },
  '=between=': between('=bt=', 'BETWEEN'),
  '=notbetween=': between('=nb=', 'NOT BETWEEN'),
  '=like=': like('=ke=', 'LIKE'),
  '=notlike=': like('=nk=', 'NOT LIKE'),
  '=ilike=': like('=ik=', 'ILIKE'),
  '=inotlike=': like('=ni=', 'NOT ILIKE'),
});

/** A canonical operator name. */
export type CanonicalFilterOperator = keyof typeof OPERATOR_TABLE;

type Aliases<Row> = Row extends { readonly aliases: readonly (infer A)[] } ? A : never;

/** An operator as a user may write it in `filterAllow`. */
export type FilterOperator =
  | CanonicalFilterOperator
  | Aliases<(typeof OPERATOR_TABLE)[CanonicalFilterOperator]>;

/** The canonical names. */
export const FILTER_OPERATORS = Object.keys(OPERATOR_TABLE) as readonly CanonicalFilterOperator[];

const OF_RANGES: ReadonlyMap<string, OperatorRow> = new Map(
  Object.entries<OperatorRow>(OPERATOR_TABLE).map(([operator, row]) => [
    operator,
    { ...row, ...row.ofRange },
  ]),
);

/** The row of an operator. @param ofRange true for columns of ranges */
export function operatorRow(operator: CanonicalFilterOperator, ofRange = false): OperatorRow {
  return (ofRange ? OF_RANGES.get(operator) : undefined) ?? OPERATOR_TABLE[operator];
}

const CANONICAL: ReadonlyMap<string, CanonicalFilterOperator> = new Map(
  FILTER_OPERATORS.flatMap((operator) =>
    [operator, ...(operatorRow(operator).aliases ?? [])].map((spelling) => [spelling, operator] as const),
  ),
);

/** The canonical name of an operator, or undefined when there is no such operator. */
export function canonicalOperator(operator: string): CanonicalFilterOperator | undefined {
  return CANONICAL.get(operator);
}

/** Every spelling of every operator, for messages. */
export function operatorSpellings(): readonly FilterOperator[] {
  return [...CANONICAL.keys()] as FilterOperator[];
}
