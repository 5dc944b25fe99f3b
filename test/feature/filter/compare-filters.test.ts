/** Random filters give the same rows in PostgreSQL as an evaluation of their meaning in memory, NULLs included. */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import {
  COMPARATORS,
  dataOf,
  expressionOver,
  FILTER_NAMES,
  FILTERS,
  KINDS,
  NAMES,
  PATHS,
  PATTERN,
  pattern,
  print,
  ROWS,
  valuesFor,
} from '../../support/filter-arbitrary.js';
import { type Expression, evaluate } from '../../support/filter-oracle.js';
import { serveTestApp } from '../../support/test-app.js';

const OWN = Object.fromEntries(NAMES.map((name) => [name, true]));
const INSIDE = Object.fromEntries(Object.entries(PATHS).map(([path, { jsonType }]) => [path, jsonType]));

@Crud({ filterAllow: { ...OWN, ...INSIDE } as never, pageSize: { max: 200 } })
@Table({ tableName: 'samples', timestamps: false })
class Sample extends KeyedRow {
  @Column(DataType.JSONB) declare data: unknown;
}
for (const name of NAMES) Column({ type: KINDS[name].type })(Sample.prototype, name);

describe('comparing filters with their meaning', () => {
  const site = serveTestApp(() => ({ models: [Sample], bootstrap: { logger: new CapturedLog() } }));

  before(async () => {
    const { sequelize } = site.engine;
    const literal = (value: string | null | undefined): string =>
      value === null || value === undefined ? 'NULL' : sequelize.escape(value);
    const tuples = ROWS.map((row, id) => {
      const values = NAMES.map((name) => literal(row[name]));
      return `(${[id, literal(dataOf(id)), ...values].join(', ')})`;
    });
    await sequelize.query('ALTER TABLE samples ALTER text TYPE text COLLATE "C"');
    await sequelize.query(
      `INSERT INTO samples (id, data, ${NAMES.map((name) => `"${name}"`).join(', ')}) VALUES ${tuples.join(', ')}`,
    );
  });

  async function matching(q: string): Promise<number[]> {
    const query = new URLSearchParams({ q, size: '200', fields: 'id' });
    const response = await fetch(`${site.server.url}/samples?${query}`);
    const body = (await response.json()) as { items?: { id: number }[]; total?: number };
    expect(response.status, JSON.stringify(body)).to.equal(200);
    expect(body.total).to.equal(body.items?.length);
    return (body.items ?? []).map(({ id }) => id);
  }

  const expected = (node: Expression): number[] =>
    [...ROWS.keys()].filter((id) => evaluate(node, ROWS[id] ?? {}, COMPARATORS) === true);

  it('finds the same rows', () =>
    fc.assert(
      fc.asyncProperty(expressionOver(FILTER_NAMES), async (node) => {
        const q = print(node);
        // The limits have tests of their own.
        fc.pre(
          q.length <= 2048 &&
            FILTER_NAMES.every((name) => q.split(`${name}=`).length + q.split(`${name}!`).length <= 12),
        );
        expect(await matching(q), q).to.deep.equal(expected(node));
      }),
      { numRuns: 300 },
    ));

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
    for (const attribute of FILTER_NAMES) {
      for (const operator of FILTERS[attribute].operators) {
        const [values] = fc.sample(valuesFor(FILTERS[attribute], operator), { numRuns: 1, seed: 7 });
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
