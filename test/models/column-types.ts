/** Types of columns that a model names by a text, or by a type of Sequelize that has no parser: values, filters, and what is refused. */
import type { DataType as Type } from 'sequelize';
import { DataType } from 'sequelize-typescript';

/** A type, as a model declares it. A row for each value, with ids from 1, and one with NULL behind them. */
export interface ColumnCase {
  readonly type: Type;
  /** The column. Default: the type of the attribute. */
  readonly column?: string;
  /** In ascending order: the text that PostgreSQL casts, and the form of answers and bodies. */
  readonly values: readonly (readonly [stored: string, wire: unknown])[];
  /** False where rows cannot be sorted by the column. */
  readonly isSorted?: boolean;
  /** False where no body may set the attribute. */
  readonly isWritten?: boolean;
  /** Conditions without the name of the attribute, and the ids of the rows that meet them. */
  readonly found: Readonly<Record<string, readonly number[]>>;
  /** Conditions that are refused, by their code. */
  readonly refused: Readonly<Record<string, string>>;
  /** Values that no body may have. */
  readonly wrong: readonly unknown[];
  /** Values that only the database refuses. */
  readonly barred?: readonly unknown[];
  /** True where a value is written again as it is shown: its elements are padded in the table. */
  readonly isPadded?: boolean;
}

const range = (lower: unknown, upper: unknown, bounds = '[)') => ({ lower, upper, bounds });
const EMPTY = { empty: true };

/** How a name as a text is declared: sequelize-typescript takes it, and Sequelize's types do not say so. */
const named = (name: string): Type => name as never;

const WRONG_RANGES = [
  '[1,2)',
  [1, 2],
  [
    { value: 1, inclusive: true },
    { value: 2, inclusive: false },
  ],
  {},
  { lower: null },
  { lower: null, upper: null, bounds: '[[' },
  { lower: null, upper: null, more: 1 },
  { empty: false },
];

const MOODS: ColumnCase['values'] = ['sad', 'ok', 'happy'].map((mood) => [mood, mood]);
const FOUND_MOODS = { '==ok': [2], '!=ok': [1, 3], '=in=(sad,happy)': [1, 3], '=isnull=true': [4] };
const CODES: ColumnCase['values'] = ['a', 'ab', 'xb'].map((code) => [code, code]);
const WORDS: ColumnCase['values'] = ['Ab', 'b', 'C'].map((word) => [word, word]);

/** By the name of a table. */
export const COLUMN_TYPES: Readonly<Record<string, ColumnCase>> = {
  int_ranges: {
    type: DataType.RANGE(DataType.INTEGER),
    column: 'int4range',
    values: [
      ['empty', EMPTY],
      ['(,5)', range(null, 5, '()')],
      ['[1,10]', range(1, 11)],
      ['[1,20)', range(1, 20)],
      ['[5,)', range(5, null)],
    ],
    found: {
      '=="[1,10]"': [3],
      '==empty': [1],
      '!="[1,11)"': [1, 2, 4, 5],
      '=in=("[1,11)","[5,)")': [3, 5],
      '=out=("[1,11)","[5,)")': [1, 2, 4],
      '=contains=5': [3, 4, 5],
      '=contains=-100': [2],
      '=contains="[2,15)"': [4],
      '=overlaps="[15,16)"': [4, 5],
      '=overlaps="(,1)"': [2],
      '=within="[1,11)"': [1, 3],
      '=isnull=true': [6],
      '=isnull=false': [1, 2, 3, 4, 5],
    },
    refused: {
      '==5': 'q.type',
      '=="[1,2"': 'q.type',
      '=="[a,2)"': 'q.type',
      '=="[1,2,3)"': 'q.type',
      '=="[2,1)"': 'q.range',
      '=contains=x': 'q.type',
      '=contains=2147483648': 'q.range',
      '=contains=(1,2)': 'q.arity',
      '=within=10': 'q.type',
      '=lt="[1,2)"': 'q.operator-not-allowed',
      '=isempty=true': 'q.operator-not-allowed',
    },
    wrong: [...WRONG_RANGES, range(2, 1), range('1', 2), range(1.5, 2), range(1, 2147483648)],
  },
  big_ranges: {
    type: named('int8range'),
    values: [
      ['[-9223372036854775808,1)', range('-9223372036854775808', '1')],
      ['[9007199254740993,9007199254740995)', range('9007199254740993', '9007199254740995')],
    ],
    found: {
      '=contains=9007199254740994': [2],
      '=contains=9007199254740995': [],
      '=="[-9223372036854775808,0]"': [1],
    },
    refused: { '=contains=9223372036854775808': 'q.range' },
    wrong: [...WRONG_RANGES, range(1, 2), range('2', '1')],
  },
  exact_ranges: {
    type: DataType.RANGE(DataType.DECIMAL),
    column: 'numrange',
    values: [
      ['(-Infinity,0.5]', range('-Infinity', '0.5', '(]')],
      ['[1.50,2.5]', range('1.50', '2.5', '[]')],
      ['[1.5,NaN)', range('1.5', 'NaN')],
    ],
    found: { '=contains=2.5': [2, 3], '=contains=0.50': [1], '=="[1.5,2.50]"': [2], '=within="[1,3]"': [2] },
    refused: { '=contains=1e3': 'q.type', '=="[2.5,1.5]"': 'q.range' },
    wrong: [...WRONG_RANGES, range('10', '9.5'), range(1.5, null)],
  },
  days: {
    type: named('DATERANGE'),
    values: [
      ['[-infinity,2026-01-01)', range('-infinity', '2026-01-01')],
      ['["0044-03-15 BC",2026-01-01)', range('-000043-03-15', '2026-01-01')],
      ['[2026-01-31,2026-01-31]', range('2026-01-31', '2026-02-01')],
      ['[12026-01-01,)', range('+012026-01-01', null)],
    ],
    found: {
      '=contains=2026-01-31': [3],
      '=contains=-infinity': [1],
      '=overlaps="[2025-12-31,2026-02-01)"': [1, 2, 3],
      '=contains="[2026-01-31,2026-02-01)"': [3],
    },
    refused: { '=contains=2026-02-30': 'q.type', '=="[2026-02-02,2026-02-01)"': 'q.range' },
    wrong: [...WRONG_RANGES, range('2026-02-30', null), range('2026-02-02', '2026-02-01')],
  },
  local_times: {
    type: DataType.RANGE(DataType.DATE),
    column: 'tsrange',
    values: [
      [
        '["2026-03-29 02:30:00.123456","2026-03-29 03:00:00")',
        range('2026-03-29T02:30:00.123456', '2026-03-29T03:00:00.000'),
      ],
    ],
    found: { '=contains=2026-03-29T02:30:00.123456': [1], '=contains=2026-03-29T02:30:00.123455': [] },
    refused: { '=contains=2026-03-29T02:30:00Z': 'q.type' },
    wrong: [...WRONG_RANGES, range('2026-03-29T02:30:00Z', null)],
  },
  times: {
    type: named('tstzrange'),
    values: [
      ['["2026-01-31 08:00:00.123456+00",infinity)', range('2026-01-31T08:00:00.123456Z', 'infinity')],
      ['["2026-01-31 08:00:00.123457+00",)', range('2026-01-31T08:00:00.123457Z', null)],
    ],
    found: {
      '=contains=2026-01-31T08:00:00.123456Z': [1],
      '=contains=2026-01-31T13:30:00.123457%2B05:30': [1, 2],
      '=overlaps="[2026-01-01T00:00:00Z,2026-01-31T08:00:00.123456Z]"': [1],
    },
    refused: { '=contains=2026-01-31T08:00:00': 'q.type' },
    wrong: [...WRONG_RANGES, range('2026-01-31T08:00:00', null)],
  },
  int_multiranges: {
    type: named('int4multirange'),
    values: [
      ['{}', []],
      ['{[1,3),[5,8]}', [range(1, 3), range(5, 9)]],
      ['{[5,)}', [range(5, null)]],
    ],
    found: {
      '=="{[1,2],[5,9)}"': [2],
      '=="{}"': [1],
      '=="[5,)"': [3],
      '=contains=6': [2, 3],
      '=contains=3': [],
      '=contains="{[1,3),[6,7)}"': [2],
      '=overlaps="[3,6)"': [2, 3],
      '=within="[0,10)"': [1, 2],
      '=isnull=true': [4],
    },
    refused: { '==5': 'q.type', '=="{[1,2)"': 'q.type', '=="{1}"': 'q.type', '=contains=x': 'q.type' },
    wrong: ['{}', EMPTY, [1], [null], [[1, 2]], [range(2, 1)], [range('1', null)]],
  },
  time_multiranges: {
    type: named('tstzmultirange'),
    values: [
      [
        '{["2026-01-31 08:00:00+00","2026-01-31 09:00:00.000001+00"],[infinity,)}',
        [range('2026-01-31T08:00:00.000Z', '2026-01-31T09:00:00.000001Z', '[]'), range('infinity', null)],
      ],
    ],
    found: { '=contains=2026-01-31T09:00:00.000001Z': [1], '=contains=2026-01-31T09:00:00.000002Z': [] },
    refused: { '=contains=2026-01-31T08:00:00': 'q.type' },
    wrong: [[range('2026-01-31T08:00:00', null)]],
  },
  hosts: {
    type: DataType.INET,
    values: [
      ['0.0.0.0/0', '0.0.0.0/0'],
      ['10.1.2.3/8', '10.1.2.3/8'],
      ['10.1.2.3', '10.1.2.3'],
      ['192.168.0.1', '192.168.0.1'],
      ['::', '::'],
      ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
      ['2001:DB8::1/64', '2001:db8::1/64'],
    ],
    found: {
      '==10.1.2.3': [3],
      '==10.1.2.3/32': [3],
      '==2001:0DB8::1/64': [7],
      '!=10.1.2.3': [1, 2, 4, 5, 6, 7],
      '=in=(10.1.2.3/8,::)': [2, 5],
      '=out=(10.1.2.3/8,::)': [1, 3, 4, 6, 7],
      '>10.1.2.3': [4, 5, 6, 7],
      '=between=(10.0.0.0,11.0.0.0)': [3],
      '=within=10.0.0.0/8': [2, 3],
      '=within=10.9.9.9/8': [2, 3],
      '=within=::/0': [5, 6, 7],
      '=isnull=true': [8],
    },
    refused: {
      '==10.1.2': 'q.type',
      '==10.1.2.256': 'q.type',
      '==010.1.2.3': 'q.type',
      '==10.1.2.3/33': 'q.type',
      '==localhost': 'q.type',
      '==fe80::1%25eth0': 'q.type',
      '=within=10': 'q.type',
      '=within=(10.0.0.0/8,11.0.0.0/8)': 'q.arity',
      '=like=10*': 'q.operator-not-allowed',
      '=contains=10.1.2.3': 'q.operator-not-allowed',
    },
    wrong: [
      '10.1.2',
      '10.1.2.3/33',
      'localhost',
      '',
      ' 10.1.2.3',
      'fe80::1%eth0',
      167838211,
      {},
      ['10.1.2.3'],
    ],
  },
  networks: {
    type: named('cidr'),
    values: [
      ['10.0.0.0/8', '10.0.0.0/8'],
      ['10.1.0.0/16', '10.1.0.0/16'],
      ['10.1.2.3', '10.1.2.3/32'],
      ['2001:db8::/32', '2001:db8::/32'],
    ],
    found: {
      '==10.1.2.3/32': [3],
      '=in=(10.0.0.0/8,2001:db8::/32)': [1, 4],
      '<10.1.0.0/16': [1],
      '=within=10.1.0.0/16': [2, 3],
      '=within=10.1.2.3': [3],
    },
    refused: { '==10.1.2.3': 'q.type', '==10.1.2.3/8': 'q.type' },
    wrong: ['10.1.2.3', '10.0.0.1/8', '2001:db8::1/32'],
  },
  cards: {
    type: DataType.MACADDR,
    values: [
      ['08:00:2b:01:02:03', '08:00:2b:01:02:03'],
      ['AC-DE-48-00-11-22', 'ac:de:48:00:11:22'],
    ],
    found: { '==08:00:2B:01:02:03': [1], '>08:00:2b:01:02:03': [2], '=in=(ac:de:48:00:11:22)': [2] },
    refused: { '==08-00-2b-01-02-03': 'q.type', '=within=10.0.0.0/8': 'q.operator-not-allowed' },
    wrong: ['08-00-2b-01-02-03', '08:00:2b:01:02', '08:00:2b:01:02:0g', 5],
  },
  long_cards: {
    type: named('macaddr8'),
    values: [['08:00:2b:ff:fe:01:02:03', '08:00:2b:ff:fe:01:02:03']],
    found: { '==08:00:2b:ff:fe:01:02:03': [1], '<=08:00:2b:ff:fe:01:02:03': [1] },
    refused: { '==08:00:2b:01:02:03': 'q.type' },
    wrong: ['08:00:2b:01:02:03'],
  },
  spans: {
    type: named('INTERVAL'),
    values: [
      ['-1 year -2 mons', 'P-1Y-2M'],
      ['-1 mon +2 days -00:00:00.5', 'P-1M2DT-0.5S'],
      ['0', 'PT0S'],
      ['0.000001 s', 'PT0.000001S'],
      ['90 min', 'PT1H30M'],
      ['24 h', 'PT24H'],
      ['25 h', 'PT25H'],
      ['30 days', 'P30D'],
      ['1 year 2 mons 3 days 04:05:06.789', 'P1Y2M3DT4H5M6.789S'],
      ['2147483647 days', 'P2147483647D'],
      // The most hours that PostgreSQL 14 reads.
      ['178956970 years 7 mons 2147483647:00:54.775807', 'P178956970Y7MT2147483647H54.775807S'],
    ],
    found: {
      '==PT25H': [7],
      '==P1M': [8],
      '==P1DT1H': [7],
      '==P4W2D': [8],
      '!=P30D': [1, 2, 3, 4, 5, 6, 7, 9, 10, 11],
      '=in=(P1Y2M3DT4H5M6.789S,PT0S)': [3, 9],
      '<PT0S': [1, 2],
      '>=P1D': [6, 7, 8, 9, 10, 11],
      '=between=(PT0.000001S,PT90M)': [4, 5],
      '==P-14M': [1],
    },
    refused: {
      '==P': 'q.type',
      '==1': 'q.type',
      '=="1 day"': 'q.type',
      '==P1DT': 'q.type',
      '==P1.5D': 'q.type',
      '==PT0.0000001S': 'q.type',
      '==P2147483648D': 'q.type',
      '=like=P*': 'q.operator-not-allowed',
    },
    wrong: ['1 day', 'P', '-P1D', 'P1.5D', 'PT0.0000001S', 'P178956971Y', 5, { days: 1 }],
  },
  amounts: {
    type: named('money'),
    values: [
      ['-92233720368547758.08', '-92233720368547758.08'],
      ['-0.05', '-0.05'],
      ['0', '0.00'],
      ['1234.5', '1234.50'],
      ['92233720368547758.07', '92233720368547758.07'],
    ],
    found: {
      '==1234.5': [4],
      '==1234.500': [4],
      '!=0': [1, 2, 4, 5],
      '=in=(-0.05,0.0)': [2, 3],
      '<0': [1, 2],
      '=between=(0,92233720368547758.07)': [3, 4, 5],
    },
    refused: {
      '==$1': 'q.type',
      '==1.234': 'q.range',
      '==1e2': 'q.type',
      '>92233720368547758.08': 'q.range',
    },
    wrong: ['$1', '1,5', '1.234', 1, 'NaN', '92233720368547758.08', ''],
  },
  host_lists: {
    type: DataType.ARRAY(DataType.INET),
    column: 'inet[]',
    isSorted: false,
    values: [
      ['{}', []],
      ['{10.1.2.3,NULL,::/0}', ['10.1.2.3', null, '::/0']],
    ],
    found: {
      '=contains=(10.1.2.3,::/0)': [2],
      '=overlaps=(10.1.2.4,10.1.2.3/32)': [2],
      '=isempty=true': [1],
      '=isnull=true': [3],
    },
    refused: { '=contains=10.1': 'q.type', '=within=10.0.0.0/8': 'q.operator-not-allowed' },
    wrong: [['10.1'], [1], '10.1.2.3'],
  },
  range_lists: {
    type: DataType.ARRAY(DataType.RANGE(DataType.INTEGER)),
    column: 'int4range[]',
    isSorted: false,
    values: [['{"[1,3)",NULL,empty,"(,5)"}', [range(1, 3), null, EMPTY, range(null, 5, '()')]]],
    found: { '=contains="[1,2]"': [1], '=overlaps=("[7,8)",empty)': [1] },
    refused: { '=contains=1': 'q.type' },
    wrong: [[[1, 3]], [range(3, 1)], range(1, 3), ['[1,3)']],
  },
  span_lists: {
    type: named('interval[]'),
    isSorted: false,
    values: [['{1 mon,NULL,-00:00:01}', ['P1M', null, 'PT-1S']]],
    found: { '=contains=P30D': [1], '=overlaps=(PT1S,PT-1S)': [1] },
    refused: { '=contains=1': 'q.type' },
    wrong: [['1 day'], 'P1D'],
  },
  named_lists: {
    type: named('int4multirange[]'),
    isSorted: false,
    values: [['{"{[1,3),[5,8)}",NULL}', [[range(1, 3), range(5, 8)], null]]],
    found: { '=contains="{[1,3),[5,7]}"': [1] },
    refused: {},
    wrong: [[range(1, 3)], [['[1,3)']]],
  },
  flag_lists: {
    type: named('bit(2)[]'),
    isSorted: false,
    values: [['{01,NULL,10}', ['01', null, '10']]],
    found: { '=contains=(10,01)': [1] },
    refused: { '=contains=1': 'q.type' },
    wrong: [['1'], '01'],
  },
  amount_lists: {
    type: named('money[]'),
    isSorted: false,
    values: [['{"-1,234.50",NULL,0}', ['-1234.50', null, '0.00']]],
    found: { '=contains=-1234.5': [1] },
    refused: { '=contains=1.234': 'q.range' },
    wrong: [['$1'], '1'],
  },
  flags: {
    type: named('bit(3)'),
    values: [
      ['000', '000'],
      ['101', '101'],
    ],
    found: { '==101': [2], '!=101': [1], '=in=(000,111)': [1], '=out=(000,111)': [2] },
    refused: { '==10': 'q.type', '==1010': 'q.type', '==102': 'q.type', '<101': 'q.operator-not-allowed' },
    wrong: ['10', '1010', '102', 5, '', [1]],
  },
  masks: {
    type: named('bit varying(5)'),
    values: [
      ['', ''],
      ['01', '01'],
      ['011', '011'],
    ],
    found: { '==01': [2], '=in=(011,1)': [3] },
    refused: { '==010101': 'q.type', '==2': 'q.type' },
    wrong: ['010101', '2', 1],
  },
  zoned_times: {
    type: named('timetz'),
    values: [
      ['10:00:00+05:30', '10:00:00+05:30'],
      ['08:00:00+02', '08:00:00+02'],
      ['23:59:59.123456-08', '23:59:59.123456-08'],
    ],
    found: {
      '==08:00:00%2B02': [2],
      '!=08:00:00%2B02': [1, 3],
      '==06:00:00Z': [],
      '=in=(08:00%2B02:00)': [2],
    },
    refused: { '==08:00': 'q.type', '==25:00Z': 'q.type', '=lt=08:00Z': 'q.operator-not-allowed' },
    wrong: ['08:00', 'x', 7, '08:00:00+99'],
  },
  documents: {
    type: named('xml'),
    values: [
      ['<a b="1">x</a>', '<a b="1">x</a>'],
      ['text', 'text'],
    ],
    isSorted: false,
    found: { '=isnull=true': [3], '=isnull=false': [1, 2] },
    refused: { '==x': 'q.operator-not-allowed' },
    wrong: [7, { a: 1 }, ['<a/>']],
  },
  stores: {
    type: named('hstore'),
    values: [
      ['a=>1,bb=>NULL', { a: '1', bb: null }],
      ['', {}],
      [String.raw`"\"\\"=>"a, \"b\"=>c", "é"=>"NULL"`, { [String.raw`"\ `.trim()]: 'a, "b"=>c', é: 'NULL' }],
    ],
    isSorted: false,
    found: { '=isnull=true': [4] },
    refused: { '==x': 'q.operator-not-allowed' },
    wrong: ['a=>1', { a: 1 }, [], { a: { b: 'c' } }, { a: '\0' }],
  },
  points: {
    type: named('point'),
    values: [['(-0,1e300)', '(-0,1e+300)']],
    isSorted: false,
    found: { '=isnull=false': [1] },
    refused: { '=="(1,2)"': 'q.operator-not-allowed' },
    wrong: [{ x: 1, y: 2 }, [1, 2]],
  },
  boxes: {
    type: named('box'),
    values: [['((0,0),(1,1))', '(1,1),(0,0)']],
    isSorted: false,
    found: { '=isnull=false': [1] },
    refused: { '=="(1,1),(0,0)"': 'q.operator-not-allowed' },
    wrong: [7],
  },
  circles: {
    type: named('circle'),
    values: [['<(0.5,0),1>', '<(0.5,0),1>']],
    isSorted: false,
    found: { '=isnull=false': [1] },
    refused: { '==x': 'q.operator-not-allowed' },
    wrong: [7],
  },
  paths: {
    type: named('path'),
    values: [['[(0,0),(1,1)]', '[(0,0),(1,1)]']],
    isSorted: false,
    found: { '=isnull=false': [1] },
    refused: { '==x': 'q.operator-not-allowed' },
    wrong: [7],
  },
  numbers_of_objects: {
    type: named('oid'),
    values: [
      ['7', 7],
      ['4294967295', 4294967295],
    ],
    found: { '==4294967295': [2], '=lt=8': [1] },
    refused: { '==4294967296': 'q.range', '==-1': 'q.range', '==x': 'q.type' },
    wrong: [-1, 4294967296, '7'],
  },
  objects: {
    type: named('regclass'),
    values: [['pg_class', 'pg_class']],
    isSorted: false,
    isWritten: false,
    found: { '=isnull=false': [1] },
    refused: { '==pg_class': 'q.operator-not-allowed' },
    wrong: [],
  },
  single_letters: {
    type: named('"char"'),
    values: [
      ['a', 'a'],
      ['b', 'b'],
    ],
    isWritten: false,
    found: { '==b': [2], '=gt=a': [2] },
    refused: { '==bc': 'q.type', '==é': 'q.type' },
    wrong: [],
  },
  names: {
    type: named('name'),
    values: [
      ['a', 'a'],
      ['x'.repeat(63), 'x'.repeat(63)],
    ],
    isWritten: false,
    found: { [`==${'x'.repeat(63)}`]: [2], '=in=(a)': [1] },
    refused: { [`==${'x'.repeat(64)}`]: 'q.type' },
    wrong: [],
  },
  transactions: {
    type: named('xid8'),
    values: [
      ['9', '9'],
      ['10', '10'],
    ],
    isWritten: false,
    found: { '==10': [2], '=gt=9': [2] },
    refused: { '==-1': 'q.type' },
    wrong: [],
  },
  places_of_log: {
    type: named('pg_lsn'),
    values: [
      ['F/0', 'F/0'],
      ['10/0', '10/0'],
    ],
    isWritten: false,
    found: { '==10/0': [2], '=gt=f/0': [2] },
    refused: { '==x': 'q.type' },
    wrong: [],
  },
  trees: {
    type: named('ltree'),
    values: [
      ['top', 'top'],
      ['top.a', 'top.a'],
      ['top.b_1', 'top.b_1'],
    ],
    found: { '==top.a': [2], '=gt=top': [2, 3] },
    refused: { '==top..a': 'q.type', '=="a b"': 'q.type' },
    wrong: ['a..b', 7],
  },
  books: {
    type: named('isbn'),
    values: [
      ['0-19-852663-6', '0-19-852663-6'],
      ['0-306-40615-2', '0-306-40615-2'],
    ],
    found: { '==0306406152': [2] },
    refused: { '==x': 'q.type', '==0-306-40615-3': 'q.type' },
    wrong: ['x', 7],
  },
  addresses: {
    type: named('address'),
    values: [
      ['("Main ""St""",12)', '("Main ""St""",12)'],
      ['(,)', '(,)'],
    ],
    isSorted: false,
    isWritten: false,
    found: { '=isnull=true': [3], '=isnull=false': [1, 2] },
    refused: { '==x': 'q.operator-not-allowed' },
    wrong: [],
  },
  exact_lists: {
    type: DataType.ARRAY(DataType.DECIMAL),
    column: 'numeric[]',
    values: [['{1.50,NULL}', ['1.50', null]]],
    isSorted: false,
    found: { '=contains=1.5': [1] },
    refused: { '=contains=x': 'q.type' },
    wrong: [[1.5], '1.5'],
  },
  plain_json: {
    type: DataType.JSON,
    column: 'json',
    values: [['{"a":1}', { a: 1 }]],
    isSorted: false,
    found: { '=isnull=true': [2] },
    refused: { '==x': 'q.operator-not-allowed' },
    wrong: [],
  },
  moods: {
    type: DataType.ENUM('sad', 'ok', 'happy'),
    column: 'feeling',
    values: MOODS,
    found: FOUND_MOODS,
    refused: { '==angry': 'q.type' },
    wrong: ['angry'],
  },
  mood_texts: {
    type: DataType.STRING,
    column: 'feeling',
    values: MOODS,
    found: { ...FOUND_MOODS, '=gt=sad': [2, 3] },
    refused: { '==angry': 'q.type' },
    wrong: [],
    barred: ['angry'],
  },
  mood_lists: {
    type: DataType.ARRAY(DataType.ENUM('sad', 'ok', 'happy')),
    column: 'mood[]',
    values: [
      ['{ok,sad}', ['ok', 'sad']],
      ['{}', []],
      ['{NULL,happy}', [null, 'happy']],
    ],
    isSorted: false,
    found: { '=contains=ok': [1], '=overlaps=(sad,happy)': [1, 3], '=isempty=true': [2] },
    refused: { '=contains=angry': 'q.type' },
    wrong: [['angry']],
  },
  short_letters: {
    type: DataType.STRING(5),
    column: 'letters',
    values: ['ab', 'b', 'c'].map((letter) => [letter, letter]),
    found: { '==ab': [1], '=like=*b': [1, 2] },
    refused: {},
    wrong: ['abcdef'],
    barred: ['none'],
  },
  codes: {
    type: DataType.CHAR(4),
    column: 'char(4)',
    values: CODES,
    found: {
      '==ab': [2],
      "=='ab  '": [2],
      '=in=(a,ab)': [1, 2],
      '=like=a*': [1, 2],
      '=like=*b': [2, 3],
      '=ilike=A': [1],
      '=notlike=ab': [1, 3],
    },
    refused: {},
    wrong: ['abcde'],
  },
  code_texts: {
    type: DataType.TEXT,
    column: 'char(4)',
    values: CODES,
    found: { '==ab': [2], '=like=*b': [2, 3] },
    refused: {},
    wrong: [],
    barred: ['abcde'],
  },
  code_lists: {
    type: DataType.ARRAY(DataType.CHAR(4)),
    column: 'char(4)[]',
    values: [
      ['{ab,c}', ['ab', 'c']],
      ['{}', []],
      ['{NULL}', [null]],
    ],
    isSorted: false,
    isPadded: true,
    found: { '=contains=ab': [1] },
    refused: {},
    wrong: [],
  },
  words: {
    type: DataType.CITEXT,
    column: 'citext',
    values: WORDS,
    found: { '==AB': [1], '=in=(B,c)': [2, 3], '=like=a*': [1], '=gt=AB': [2, 3] },
    refused: {},
    wrong: [],
  },
  word_texts: {
    type: DataType.STRING,
    column: 'citext',
    values: WORDS,
    found: { '==AB': [1], '=like=a*': [1] },
    refused: {},
    wrong: [],
  },
};
