/** Columns of every type that can be compared, rows of them, and random filters over them, for tests with an oracle. */
import fc from 'fast-check';
import type { DataType as ColumnDataType } from 'sequelize';
import { DataType } from 'sequelize-typescript';
import type { Comparator, Expression, TextRow } from './filter-oracle.js';

export const EQUALITY = ['==', '!=', '=in=', '=out=', '=isnull='];
const ORDER = ['=lt=', '=le=', '=gt=', '=ge=', '=between=', '=notbetween='];
const ARRAY = ['=contains=', '=overlaps=', '=isempty=', '=isnull='];
export const PATTERN = ['=like=', '=notlike=', '=ilike=', '=inotlike='];

const byText: Comparator = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byInteger: Comparator = (a, b) => Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b));
const byDecimal: Comparator = (a, b) => byInteger(scaled(a), scaled(b));
/** NaN is the largest number, and equal to itself. */
const byFloat: Comparator = (a, b) => {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return Number(x > y) - Number(x < y);
};
/** A value without microseconds is equal to all moments of its millisecond. */
const byMoment: Comparator = Object.assign(
  (a: string, b: string) => byInteger(microseconds(a), microseconds(b)),
  {
    isEqual: (value: string, other: string) => {
      const [own, asked] = [BigInt(microseconds(value)), BigInt(microseconds(other))];
      return own === asked || (asked % 1000n === 0n && own - asked >= 0n && own - asked < 1000n);
    },
  },
);
const byTime: Comparator = (a, b) => byText(wholeTime(a), wholeTime(b));

function scaled(decimal: string): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  return `${whole}${fraction.padEnd(30, '0')}`;
}

function microseconds(moment: string): string {
  const [, seconds = '', fraction = '', offset = ''] = /^(.{19})(?:\.(\d+))?(.*)$/.exec(moment) ?? [];
  return `${BigInt(Date.parse(`${seconds}${offset}`)) * 1000n + BigInt(fraction.padEnd(6, '0'))}`;
}

function wholeTime(time: string): string {
  return time + '00:00:00.000000'.slice(time.length);
}

/** A type, with its values and operators. */
export interface Kind {
  readonly type: ColumnDataType;
  readonly operators: readonly string[];
  readonly compare: Comparator;
  /** Values in rows and in filters. */
  readonly values: readonly string[];
  /** Values that a filter cannot name. */
  readonly stored?: readonly string[];
  /** Values that elements of an array are compared with. */
  readonly elements?: readonly string[];
}

/** Arrays, as PostgreSQL reads them. What is between the braces is JSON, too. */
function arrayOf<K extends Omit<Kind, 'operators'>>(
  { type, compare, values }: K,
  rows: readonly (readonly (string | null)[])[],
) {
  return {
    type: DataType.ARRAY(type as never) as ColumnDataType,
    operators: ARRAY,
    compare,
    values: rows.map((row) => `{${JSON.stringify(row).slice(1, -1)}}`),
    elements: values,
  };
}

/** Every type that can be compared. */
const SCALARS = {
  text: {
    type: DataType.TEXT,
    operators: [...EQUALITY, ...ORDER, ...PATTERN],
    compare: byText,
    values: [
      '',
      ' ',
      'a',
      'A',
      'ab',
      'aB',
      'b%',
      'a_b',
      'a*b',
      '\\',
      'a\\b',
      "'",
      '"',
      'ä',
      'é',
      '\u{1f642}',
      '\uffee',
      '$1',
      'null',
      'a,b;(c)',
    ],
  },
  whole: {
    type: DataType.INTEGER,
    operators: [...EQUALITY, ...ORDER],
    compare: byInteger,
    values: ['-2147483648', '-1', '0', '-0', '1', '7', '2147483647'],
  },
  big: {
    type: DataType.BIGINT,
    operators: [...EQUALITY, ...ORDER],
    compare: byInteger,
    values: ['-9223372036854775808', '9007199254740992', '9007199254740993', '9223372036854775807', '0'],
  },
  exact: {
    type: DataType.DECIMAL,
    operators: [...EQUALITY, ...ORDER],
    compare: byDecimal,
    values: ['0.1', '0.10', '-0.1', '0', '0.1000000000000000000000000001', '12345678901234567890.5'],
  },
  ratio: {
    type: DataType.DOUBLE,
    operators: [...EQUALITY, ...ORDER],
    compare: byFloat,
    values: ['0.1', '0.30000000000000004', '0.3', '-0', '0', '5e-324', '1.7976931348623157e308', '1e0'],
    stored: ['NaN', 'Infinity', '-Infinity'],
  },
  flag: { type: DataType.BOOLEAN, operators: EQUALITY, compare: byText, values: ['true', 'false'] },
  moment: {
    type: DataType.DATE,
    operators: [...EQUALITY, ...ORDER],
    compare: byMoment,
    values: [
      '2026-01-31T08:00:00Z',
      '2026-01-31T08:00:00.000001Z',
      '2026-01-31T10:00:00+02:00',
      '2026-01-31T08:00:00.001Z',
      '0001-01-01T00:00:00Z',
    ],
  },
  day: {
    type: DataType.DATEONLY,
    operators: [...EQUALITY, ...ORDER],
    compare: byText,
    values: ['2026-01-31', '2024-02-29', '0001-01-01', '9999-12-31'],
  },
  time: {
    type: DataType.TIME,
    operators: [...EQUALITY, ...ORDER],
    compare: byTime,
    values: ['08:00', '08:00:00', '08:00:00.000001', '23:59:59', '00:00'],
  },
  key: {
    type: DataType.UUID,
    operators: EQUALITY,
    compare: (a: string, b: string) => byText(a.toLowerCase(), b.toLowerCase()),
    values: ['00000000-0000-4000-8000-000000000000', 'FFFFFFFF-FFFF-4FFF-8FFF-FFFFFFFFFFFF'],
  },
  grade: {
    type: DataType.ENUM('middling', 'awful', 'very good'),
    operators: EQUALITY,
    compare: byText,
    values: ['middling', 'awful', 'very good'],
  },
} satisfies Record<string, Kind>;

const { text, whole, exact, ratio, moment, grade } = SCALARS;

/** Every type that can be filtered by. */
export const KINDS = {
  ...SCALARS,
  words: arrayOf(text, [
    [],
    ['a'],
    ['a', 'b%'],
    ['a,b;(c)', 'a'],
    ['"', "'", '\\', 'a\\b'],
    ['', ' '],
    ['null', '$1'],
    [null],
    [null, 'a', 'a'],
    ['ä', '\u{1f642}', 'A'],
  ]),
  wholes: arrayOf(whole, [[], ['0'], ['-1', '7'], [null, '7'], ['2147483647', '0', '1'], ['7', '7']]),
  exacts: arrayOf(exact, [[], ['0.1'], ['0.10', '-0.1'], ['12345678901234567890.50', null]]),
  ratios: arrayOf(ratio, [['NaN'], ['0.3', '-0'], ['5e-324', 'Infinity'], ['1', '0.30000000000000004']]),
  moments: arrayOf(moment, [
    [],
    ['2026-01-31T08:00:00Z'],
    ['2026-01-31T08:00:00.001Z', '2026-01-31T10:00:00+02:00'],
  ]),
  grades: arrayOf(grade, [[], ['awful'], ['very good', 'middling'], [null, 'awful']]),
};

/** The attributes: one of each type. */
export const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
/** Attributes that can be equal to a value, and be sorted by. */
export const COMPARABLE = Object.keys(SCALARS) as (keyof typeof SCALARS)[];

/** Values inside of the column `data`. Their texts are sorted by the language of the database, so no test can predict their order. */
export const PATHS = {
  'data.word': {
    jsonType: 'string',
    operators: [...EQUALITY, ...PATTERN],
    compare: byText,
    values: text.values,
  },
  'data.size': {
    jsonType: 'number',
    operators: [...EQUALITY, ...ORDER],
    compare: byFloat,
    values: ['0', '-0', '1', '1.50', '1.5', '15e-1', '1e3', '1000', '-1e-7', '9', '10'],
  },
  'data.deep.on': { jsonType: 'boolean', operators: EQUALITY, compare: byText, values: ['true', 'false'] },
} as const;

/** A name in a filter. */
export type FilterName = keyof typeof KINDS | keyof typeof PATHS;
export const FILTERS: Readonly<Record<FilterName, Omit<Kind, 'type'>>> = { ...KINDS, ...PATHS };
export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];
export const COMPARATORS = Object.fromEntries(FILTER_NAMES.map((name) => [name, FILTERS[name].compare]));

/** Every value of every type in some row, in mixtures that a multiplication makes, and every third place NULL. */
export const ROWS: readonly TextRow[] = Array.from({ length: 120 }, (_, row) =>
  Object.fromEntries(
    FILTER_NAMES.map((name, column) => {
      const kind = FILTERS[name];
      const values = [...kind.values, ...(kind.stored ?? [])];
      const choice = (row * (column * 2 + 7) + row * row) % Math.ceil(values.length * 1.4);
      return [name, values[choice] ?? null];
    }),
  ),
);

/** A value in the place of one that a row does not have. */
const OTHERS = ['null', '"other"', '12', 'true', '{}', '["a", 1, true]', '{"on": true}'];

/** The column `data` of a row: the values of the paths, and other values where a row has none. */
export function dataOf(row: number): string | null {
  const other = (type: string) =>
    OTHERS.filter((each) => typeof JSON.parse(each) !== type)[row % 5] ?? 'null';
  const { 'data.word': word, 'data.size': size, 'data.deep.on': on } = ROWS[row] ?? {};
  if (!word && !size && !on) return [null, 'null', '[]', '"a"', '{}'][row % 5] ?? null;
  const deep = on ? `{"on": ${on}}` : row % 2 === 0 ? `{"on": ${other('boolean')}}` : other('object');
  const text = word == null ? other('string') : JSON.stringify(word);
  return `{"word": ${text}, "size": ${size ?? other('number')}, "deep": ${deep}}`;
}

/** A pattern that is not a star alone. */
export const pattern = fc
  .array(fc.constantFrom('*', '*', 'a', 'A', 'b', 'B', '%', '_', '\\*', '\\\\', 'ä', '\u{1f642}'), {
    minLength: 1,
    maxLength: 3,
  })
  .filter((pieces) => pieces.some((piece) => piece !== '*'))
  .map((pieces) => pieces.join(''));

/** Values that an operator takes. */
export function valuesFor(
  { values, elements = values }: Pick<Kind, 'values' | 'elements'>,
  operator: string,
): fc.Arbitrary<readonly string[]> {
  const value = fc.constantFrom(...elements);
  if (operator === '=isnull=' || operator === '=isempty=') return fc.constantFrom(['true'], ['false']);
  if (PATTERN.includes(operator)) return pattern.map((text) => [text]);
  if (isListOperator(operator)) return fc.array(value, { minLength: 1, maxLength: 4 });
  return operator.endsWith('between=') ? fc.tuple(value, value) : value.map((text) => [text]);
}

/** True where an operator takes any number of values. */
export function isListOperator(operator: string): boolean {
  return ['=in=', '=out=', '=contains=', '=overlaps='].includes(operator);
}

/** A filter over some of the attributes. */
export function expressionOver(names: readonly FilterName[]): fc.Arbitrary<Expression> {
  const comparison: fc.Arbitrary<Expression> = fc
    .constantFrom(...names)
    .chain((attribute) =>
      fc.tuple(fc.constant(attribute), fc.constantFrom<string>(...FILTERS[attribute].operators)),
    )
    .chain(([attribute, operator]) =>
      valuesFor(FILTERS[attribute], operator).map((values) => ({
        kind: 'comparison' as const,
        attribute,
        operator,
        values,
      })),
    );

  const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
      comparison,
      fc.record({
        kind: fc.constantFrom('and' as const, 'or' as const),
        operands: fc.array(tie('expression'), { minLength: 2, maxLength: 3 }),
      }),
    ),
  }));

  return expression;
}

/** A filter as a client writes it. */
export function print(node: Expression): string {
  if (node.kind !== 'comparison') {
    return `(${node.operands.map(print).join(node.kind === 'and' ? ';' : ',')})`;
  }
  return printComparison(node);
}

/** A comparison as a client writes it. */
export function printComparison({
  attribute,
  operator,
  values,
}: Extract<Expression, { kind: 'comparison' }>): string {
  const quoted = values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`);
  const isList = operator.endsWith('between=') || isListOperator(operator);
  return `${attribute}${operator}${isList ? `(${quoted.join(',')})` : quoted.join('')}`;
}
