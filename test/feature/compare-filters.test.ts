/** Random filters give the same rows in PostgreSQL as an evaluation of their meaning in memory, NULLs included. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { DataType as ColumnDataType } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { CapturedLog } from '../support/captured-log.js';
import { type Comparator, type Expression, evaluate, type TextRow } from '../support/filter-oracle.js';
import { type Listening, listen } from '../support/listen.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const EQUALITY = ['==', '!=', '=in=', '=out=', '=isnull='];
const ORDER = ['=lt=', '=le=', '=gt=', '=ge=', '=between=', '=notbetween='];
const PATTERN = ['=like=', '=notlike=', '=ilike=', '=inotlike='];

const byText: Comparator = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byInteger: Comparator = (a, b) => Number(BigInt(a) > BigInt(b)) - Number(BigInt(a) < BigInt(b));
const byDecimal: Comparator = (a, b) => byInteger(scaled(a), scaled(b));
/** NaN is the largest number, and equal to itself. */
const byFloat: Comparator = (a, b) => {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return Number(x > y) - Number(x < y);
};
const byMoment: Comparator = (a, b) => byInteger(microseconds(a), microseconds(b));
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

interface Kind {
  readonly type: ColumnDataType;
  readonly operators: readonly string[];
  readonly compare: Comparator;
  /** Values in rows and in filters. */
  readonly values: readonly string[];
  /** Values that a filter cannot name. */
  readonly stored?: readonly string[];
}

const KINDS = {
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

const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];
const COMPARATORS = Object.fromEntries(NAMES.map((name) => [name, KINDS[name].compare]));

@Crud({ filterAllow: [...NAMES] as never, pageSize: { max: 200 } })
@Table({ tableName: 'samples', timestamps: false })
class Sample extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;
}
for (const name of NAMES) Column({ type: KINDS[name].type })(Sample.prototype, name);

/** Every value of every type in some row, in mixtures that a multiplication makes, and every third place NULL. */
const ROWS: readonly TextRow[] = Array.from({ length: 120 }, (_, row) =>
  Object.fromEntries(
    NAMES.map((name, column) => {
      const kind: Kind = KINDS[name];
      const values = [...kind.values, ...(kind.stored ?? [])];
      const choice = (row * (column * 2 + 7) + row * row) % Math.ceil(values.length * 1.4);
      return [name, values[choice] ?? null];
    }),
  ),
);

const pattern = fc
  .array(fc.constantFrom('*', '*', 'a', 'A', 'b', 'B', '%', '_', '\\*', '\\\\', 'ä', '\u{1f642}'), {
    minLength: 1,
    maxLength: 3,
  })
  .filter((pieces) => pieces.some((piece) => piece !== '*'))
  .map((pieces) => pieces.join(''));

function valuesFor(name: keyof typeof KINDS, operator: string): fc.Arbitrary<readonly string[]> {
  const value = fc.constantFrom<string>(...KINDS[name].values);
  if (operator === '=isnull=') return fc.constantFrom(['true'], ['false']);
  if (PATTERN.includes(operator)) return pattern.map((text) => [text]);
  if (operator === '=in=' || operator === '=out=') return fc.array(value, { minLength: 1, maxLength: 4 });
  return operator.endsWith('between=') ? fc.tuple(value, value) : value.map((text) => [text]);
}

const comparison: fc.Arbitrary<Expression> = fc
  .constantFrom(...NAMES)
  .chain((attribute) =>
    fc.tuple(fc.constant(attribute), fc.constantFrom<string>(...KINDS[attribute].operators)),
  )
  .chain(([attribute, operator]) =>
    valuesFor(attribute, operator).map((values) => ({
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

function print(node: Expression): string {
  if (node.kind !== 'comparison') {
    return `(${node.operands.map(print).join(node.kind === 'and' ? ';' : ',')})`;
  }
  const values = node.values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`);
  const isList = node.operator.endsWith('between=') || node.operator === '=in=' || node.operator === '=out=';
  return `${node.attribute}${node.operator}${isList ? `(${values.join(',')})` : values.join('')}`;
}

describe('comparing filters with their meaning', function () {
  this.timeout(60_000);
  let site: TestApp;
  let server: Listening;

  before(async () => {
    site = await startTestApp({ models: [Sample], bootstrap: { logger: new CapturedLog() } });
    server = await listen(site.app);
    const { sequelize } = site.engine;
    const literal = (value: string | null | undefined): string =>
      value === null || value === undefined ? 'NULL' : sequelize.escape(value);
    const tuples = ROWS.map((row, id) => `(${[id, ...NAMES.map((name) => literal(row[name]))].join(', ')})`);
    await sequelize.query('ALTER TABLE samples ALTER text TYPE text COLLATE "C"');
    await sequelize.query(
      `INSERT INTO samples (id, ${NAMES.map((name) => `"${name}"`).join(', ')}) VALUES ${tuples.join(', ')}`,
    );
  });

  after(async () => {
    await server[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  async function matching(q: string): Promise<number[]> {
    const query = new URLSearchParams({ q, size: '200', fields: 'id' });
    const response = await fetch(`${server.url}/samples?${query}`);
    const body = (await response.json()) as { items?: { id: number }[]; total?: number };
    expect(response.status, JSON.stringify(body)).to.equal(200);
    expect(body.total).to.equal(body.items?.length);
    return (body.items ?? []).map(({ id }) => id);
  }

  const expected = (node: Expression): number[] =>
    [...ROWS.keys()].filter((id) => evaluate(node, ROWS[id] ?? {}, COMPARATORS) === true);

  it('finds the same rows', async () => {
    await fc.assert(
      fc.asyncProperty(expression, async (node) => {
        const q = print(node);
        // The limits have tests of their own.
        fc.pre(
          q.length <= 2048 &&
            NAMES.every((name) => q.split(`${name}=`).length + q.split(`${name}!`).length <= 12),
        );
        expect(await matching(q), q).to.deep.equal(expected(node));
      }),
      { numRuns: 300 },
    );
  });

  it('finds the same rows by patterns', async () => {
    const byPattern = fc.tuple(fc.constantFrom(...PATTERN), pattern).map(
      ([operator, text]): Expression => ({
        kind: 'comparison',
        attribute: 'text',
        operator,
        values: [text],
      }),
    );
    await fc.assert(
      fc.asyncProperty(byPattern, async (node) => {
        expect(await matching(print(node)), print(node)).to.deep.equal(expected(node));
      }),
      { numRuns: 150 },
    );
  });

  it('finds the same rows by each operator of each type, and some rows by most', async () => {
    let found = 0;
    let asked = 0;
    for (const attribute of NAMES) {
      for (const operator of KINDS[attribute].operators) {
        const [values] = fc.sample(valuesFor(attribute, operator), { numRuns: 1, seed: 7 });
        const node: Expression = { kind: 'comparison', attribute, operator, values: values ?? [] };
        const ids = await matching(print(node));
        expect(ids, print(node)).to.deep.equal(expected(node));
        asked += 1;
        if (ids.length > 0 && ids.length < ROWS.length) found += 1;
      }
    }
    expect(found / asked).to.be.above(0.6);
  });
});
