/** The orders that `sortAllow` declares: by number and by cursor, in both directions, of all executors, against an order made in JavaScript. */
// @runs once
import { expect } from 'chai';
import fc from 'fast-check';
import { Column, DataType, HasMany, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { TwoPaths } from '../../support/two-paths.js';

type Value = string | number | null;
/** Compares two values other than null. */
type Order = (one: never, other: never) => number;

const byNumber = (one: number, other: number) => one - other;

/** A name of `sort`: the value of a row, the place of NULLs, the order of other values. */
interface Declared {
  of(row: Row): Value;
  readonly nulls?: 'first' | 'last';
  readonly orders: readonly Order[];
}

const DECLARED: Readonly<Record<string, Declared>> = {
  id: { of: ({ id }) => id, orders: [byNumber] },
  low: { of: ({ low }) => low, nulls: 'first', orders: [byNumber] },
  high: { of: ({ high }) => high, nulls: 'last', orders: [byNumber] },
  usual: { of: ({ usual }) => usual, orders: [byNumber] },
};

const ALLOW = { id: true, low: { nulls: 'first' }, high: { nulls: 'last' }, usual: true };

abstract class Row extends NumberedRow {
  @Column({ type: DataType.INTEGER, field: 'the low' }) declare low: number | null;
  @Column(DataType.INTEGER) declare high: number | null;
  @Column(DataType.INTEGER) declare usual: number | null;
  @Column(DataType.INTEGER) declare groupId: number;
}

const OPTIONS = { sortAllow: ALLOW, defaultSort: '-high,low', pageSize: { default: 100, max: 100 } };

@Crud({ include: { rows: { size: { max: 50 } } }, subresources: ['rows'], pageSize: { max: 20 } } as object)
@Table({ tableName: 'groups', timestamps: false })
class Group extends KeyedRow {
  @HasMany(() => Walked, { foreignKey: 'groupId', constraints: false }) declare rows?: Row[];
}

@Crud({ ...OPTIONS, prefix: '/numbered' } as object)
@Table({ tableName: 'ordered', timestamps: false })
class Numbered extends Row {}

@Crud({ ...OPTIONS, prefix: '/walked', pagination: 'cursor' } as object)
@Table({ tableName: 'ordered', timestamps: false })
class Walked extends Row {}

/** Values that meet one another, NULL more often than others. */
const few = (count: number) => (index: number, step: number) => {
  const value = (index * step) % (count + 2);
  return value < count ? value : null;
};

const ROWS = Array.from({ length: 24 }, (_, index) => ({
  low: few(3)(index, 7),
  high: few(2)(index, 3),
  usual: few(4)(index, 5),
  groupId: index % 2,
}));

interface Term {
  readonly name: string;
  readonly descending: boolean;
}

/** The ids in an order. */
function expected(rows: readonly Row[], terms: readonly Term[]): number[] {
  const last = terms.at(-1)?.descending ?? false;
  const whole = [...terms, { name: 'id', descending: last }];
  return [...rows].sort((one, other) => compare(one, other, whole)).map(({ id }) => id);
}

function compare(one: Row, other: Row, terms: readonly Term[]): number {
  for (const { name, descending } of terms) {
    const { of, nulls = descending ? 'first' : 'last', orders } = DECLARED[name] as Declared;
    const values = [of(one), of(other)];
    const [first, second] = values.map((value) => (value === null) === (nulls === 'last'));
    if (first !== second) return first ? 1 : -1;
    if (values.includes(null)) continue;
    for (const order of orders) {
      const found = order(values[0] as never, values[1] as never);
      if (found !== 0) return descending ? -found : found;
    }
  }
  return 0;
}

const sortOf = (terms: readonly Term[]) =>
  terms.map(({ name, descending }) => `${descending ? '-' : ''}${name}`).join(',');

const orderArbitrary = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...Object.keys(DECLARED)), descending: fc.boolean() }),
  { minLength: 1, maxLength: 3, selector: ({ name }) => name },
);

interface Page {
  readonly items: readonly { readonly id: number }[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
}

describe('sorting as sortAllow declares', function () {
  this.timeout(60_000);

  const paths = forSuite(() =>
    TwoPaths.start({ models: [Group, Numbered, Walked], bootstrap: { logger: new CapturedLog() } }),
  );
  let rows: readonly Row[];

  before(async () => {
    await Group.bulkCreate([{ id: 0 }, { id: 1 }]);
    await Numbered.bulkCreate(ROWS);
    rows = await Numbered.findAll();
  });

  /** The answer of both paths, and of Sequelize. */
  async function get<T>(path: string): Promise<T> {
    const { status, body } = await paths.same({ path });
    expect(status, body).to.equal(200);
    return JSON.parse(body) as T;
  }

  const idsOf = ({ items }: Page) => items.map(({ id }) => id);

  it('walks each order forward and backward, over NULLs and ties, and has it by number', async () =>
    await fc.assert(
      fc.asyncProperty(orderArbitrary, fc.integer({ min: 2, max: 9 }), async (terms, size) => {
        const ids = expected(rows, terms);
        const sort = sortOf(terms);
        expect(idsOf(await get<Page>(`/numbered?sort=${sort}`))).to.deep.equal(ids);
        const query = `/walked?sort=${sort}&size=${size}&fields=id`;
        let page = await get<Page>(query);
        const forward = idsOf(page);
        while (page.next_cursor !== null) {
          page = await get<Page>(`${query}&after=${page.next_cursor}`);
          forward.push(...idsOf(page));
        }
        expect(forward).to.deep.equal(ids);
        const backward = idsOf(page);
        while (page.prev_cursor !== null) {
          page = await get<Page>(`${query}&before=${page.prev_cursor}`);
          backward.unshift(...idsOf(page));
        }
        expect(backward).to.deep.equal(ids);
      }),
      { numRuns: wholeOr(8, 60) },
    ));

  it('sorts what is included, and what is listed under a record', async () =>
    await fc.assert(
      fc.asyncProperty(orderArbitrary, async (terms) => {
        const ids = [0, 1].map((group) =>
          expected(
            rows.filter(({ groupId }) => groupId === group),
            terms,
          ),
        );
        const sort = sortOf(terms);
        const { items } = await get<{ items: { rows: Page }[] }>(
          `/groups?include=rows&rows.size=50&rows.sort=${sort}`,
        );
        expect(items.map((item) => idsOf(item.rows))).to.deep.equal(ids);
        expect(idsOf(await get<Page>(`/groups/1/rows?sort=${sort}`))).to.deep.equal(ids[1]);
      }),
      { numRuns: wholeOr(4, 30) },
    ));

  it('has the order of each name in defaultSort, too', async () => {
    const ids = expected(rows, [
      { name: 'high', descending: true },
      { name: 'low', descending: false },
    ]);
    expect(idsOf(await get<Page>('/numbered'))).to.deep.equal(ids);
    expect(idsOf(await get<Page>('/walked'))).to.deep.equal(ids);
  });
});
