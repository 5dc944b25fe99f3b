/** Random filters, rules and scopes give the same rows in PostgreSQL as an evaluation of their meaning in memory, NULLs included. */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, EVERYTHING, type FilterTemplate, filter } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import {
  COMPARATORS,
  dataOf,
  expressionOver,
  FILTER_NAMES,
  FILTERS,
  isListOperator,
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
import { listen } from '../../support/listen.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

const OWN = Object.fromEntries(NAMES.map((name) => [name, true]));
const INSIDE = Object.fromEntries(Object.entries(PATHS).map(([path, { jsonType }]) => [path, jsonType]));

abstract class DataRow extends KeyedRow {
  @Column(DataType.JSONB) declare data: unknown;
}

@Crud({ filterAllow: { ...OWN, ...INSIDE } as never, pageSize: { max: 200 } })
@Table({ tableName: 'samples', timestamps: false })
class Sample extends DataRow {}

/** The results of the rules for a request; null is everything. */
interface Rules {
  readonly visible: Expression | null;
  readonly scope: number | readonly number[] | null;
  readonly isLate: boolean;
}

let rules: Rules = { visible: null, scope: null, isLate: false };
const answer = <T>(value: T): Promise<T> => (rules.isLate ? Promise.resolve(value) : (value as never));

/** The same rows, as rules show them. */
@Crud({
  prefix: '/shown',
  filterAllow: OWN as never,
  pageSize: { max: 200 },
  scope: { whole: () => answer((rules.scope ?? EVERYTHING) as never) } as object,
  visible: () => answer(rules.visible ? templateOf(rules.visible) : EVERYTHING),
})
@Table({ tableName: 'samples', timestamps: false })
class Shown extends DataRow {}

for (const { prototype } of [Sample, Shown])
  for (const name of NAMES) Column({ type: KINDS[name].type })(prototype, name);

/** A piece of a template: its text, or a value in it. */
type Piece = string | { readonly value: string | readonly string[] };

/** The condition, with its values apart from it. */
function templateOf(expression: Expression): FilterTemplate {
  const texts = [''];
  const values: (string | readonly string[])[] = [];
  for (const piece of piecesOf(expression)) {
    if (typeof piece === 'string') texts.push(`${texts.pop()}${piece}`);
    else {
      values.push(piece.value);
      texts.push('');
    }
  }
  return filter(Object.assign(texts, { raw: texts }), ...values);
}

function piecesOf(node: Expression): readonly Piece[] {
  if (node.kind !== 'comparison') {
    const between = node.kind === 'and' ? ';' : ',';
    const operands = node.operands.flatMap((each, index) => [index > 0 ? between : '', ...piecesOf(each)]);
    return ['(', ...operands, ')'];
  }
  const { attribute, operator, values } = node;
  const [value = '', second = ''] = values;
  // A value is no pattern: stars of a pattern are a part of the text.
  if (PATTERN.includes(operator)) return [print(node)];
  if (operator.endsWith('between='))
    return [`${attribute}${operator}(`, { value }, ',', { value: second }, ')'];
  return [`${attribute}${operator}`, { value: isListOperator(operator) ? values : value }];
}

/** The limits have tests of their own. */
function isShort(node: Expression): boolean {
  const q = print(node);
  const isRare = (name: string) => q.split(`${name}=`).length + q.split(`${name}!`).length <= 12;
  return q.length <= 2048 && FILTER_NAMES.every(isRare);
}

describe('comparing filters with their meaning', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Sample, Shown], bootstrap: { logger } }));

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

  async function matching(q: string, url = `${site.server.url}/samples`): Promise<number[]> {
    const query = new URLSearchParams({ ...(q ? { q } : {}), size: '200', fields: 'id' });
    const response = await fetch(`${url}?${query}`);
    const body = (await response.json()) as { items?: { id: number }[]; total?: number };
    expect(response.status, JSON.stringify(body)).to.equal(200);
    expect(body.total).to.equal(body.items?.length);
    return (body.items ?? []).map(({ id }) => id);
  }

  const expected = (node: Expression): number[] =>
    [...ROWS.keys()].filter((id) => evaluate(node, ROWS[id] ?? {}, COMPARATORS) === true);

  it('finds the same rows', () =>
    fc.assert(
      fc.asyncProperty(expressionOver(FILTER_NAMES).filter(isShort), async (node) => {
        expect(await matching(print(node)), print(node)).to.deep.equal(expected(node));
      }),
      { numRuns: wholeOr(120, 300) },
    ));

  for (const fastPath of [true, false]) {
    it(`shows the rows that meet a rule, a scope and a filter, fastPath ${fastPath}`, async () => {
      const { app } = await buildApp({ models: [Shown], logger, fastPath });
      await using server = await listen(app);
      const condition = fc.option(expressionOver(NAMES).filter(isShort));
      const whole = fc.constantFrom(...KINDS.whole.values.map(Number));
      const scope = fc.option(fc.oneof(whole, fc.array(whole)));
      const request = fc.record({ visible: condition, scope, isLate: fc.boolean(), q: condition });
      const property = fc.asyncProperty(request, async ({ q, ...given }) => {
        rules = given;
        const values = given.scope === null ? null : [given.scope].flat().map(String);
        const inScope: Expression | null = values && {
          kind: 'comparison',
          attribute: 'whole',
          operator: '=in=',
          values,
        };
        const operands = [given.visible, inScope, q].filter((each) => each !== null);
        const path = `${server.url}/shown`;
        expect(await matching(q ? print(q) : '', path)).to.deep.equal(expected({ kind: 'and', operands }));
      });
      await fc.assert(property, { numRuns: wholeOr(80, 200) });
    });
  }

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
      { numRuns: wholeOr(60, 150) },
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
