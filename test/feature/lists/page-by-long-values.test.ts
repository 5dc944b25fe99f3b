/** Cursors of rows whose sort values are too long for an address. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  pagination: 'cursor',
  pageSize: { default: 2, max: 2 },
  defaultSort: '-team,text',
  sortAllow: ['id', 'team', 'text'],
  filterAllow: ['team'],
  scope: { tenant: (request) => Number(request.get('Tenant') ?? 1) },
})
@Table({ tableName: 'essays', timestamps: false })
class Essay extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare tenant: number;
  @Column(DataType.INTEGER) declare team: number | null;
  @Column(DataType.TEXT) declare text: string | null;
}

/** A list whose order begins with a long key. */
@Crud({
  pagination: 'cursor',
  pageSize: { default: 1, max: 1 },
  sortAllow: ['id', 'text'],
  defaultSort: 'id,text',
})
@Table({ tableName: 'named_essays', timestamps: false })
class NamedEssay extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
  @Column(DataType.TEXT) declare text: string | null;
}

/** Two attributes are the key, of which the first is that of several rows. */
@Crud({ prefix: '/leaves', pagination: 'cursor', pageSize: { default: 2, max: 2 }, sortAllow: ['text'] })
@Table({ tableName: 'leaves', timestamps: false })
class Leaf extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare tree: number;
  @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  @Column(DataType.TEXT) declare text: string;
}

interface Page {
  readonly items: readonly { readonly id: unknown }[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
}

/** Texts that are equal up to their ends, so that no shorter part of them shows their order. */
const long = (end: string, length = 20_000): string => `${'é"'.repeat(length / 2)}${end}`;
const LONGEST = 4096;

const GONE = {
  parameter: 'after',
  code: 'cursor.gone',
  detail:
    'The row that this cursor was made from is gone, or has other values by now; they were too long for the cursor to ' +
    'hold them. Start again without a cursor.',
};

describe('paging by long values', () => {
  const bootstrap = { logger: new CapturedLog() };
  const site = serveTestApp(() => ({ models: [Essay, NamedEssay, Leaf], bootstrap }));

  beforeEach(async () => {
    await emptyTables(site, 'essays', 'named_essays', 'leaves');
    const texts = [long('c'), long('a'), null, long('b'), 'short', long('b'), long('a', 10_000), long('é')];
    await Essay.bulkCreate(texts.map((text, index) => ({ text, team: index % 3 === 2 ? null : index % 3 })));
  });

  const ask = (query: object, path = '/essays', tenant = 1) =>
    site.agent.get(path).query(query).set('Tenant', String(tenant));

  async function page(query: object, path?: string): Promise<Page> {
    const { status, body } = await ask(query, path);
    expect(status, JSON.stringify(body).slice(0, 300)).to.equal(200);
    for (const cursor of [body.next_cursor, body.prev_cursor])
      expect(cursor?.length ?? 0).to.be.at.most(LONGEST);
    return body as Page;
  }

  async function walk(query: object, way: 'after' | 'before', from: string, path?: string) {
    const ids: unknown[] = [];
    for (let cursor: string | null = from; cursor !== null; ) {
      const { items, next_cursor, prev_cursor } = await page({ ...query, [way]: cursor }, path);
      const found = items.map(({ id }) => id);
      ids.push(...(way === 'after' ? found : found.reverse()));
      cursor = way === 'after' ? next_cursor : prev_cursor;
      expect(ids.length).to.be.below(20);
    }
    return ids;
  }

  for (const sort of ['text', '-text', 'team,text', '-team,text', 'team,-text', 'id,text']) {
    it(`[D15] gives each row once, there and back, sorted by ${sort}`, async () => {
      const order = sort.split(',').map((term): [string, string] => {
        return [term.replace('-', ''), term.startsWith('-') ? 'DESC' : 'ASC'];
      });
      if (!sort.startsWith('id')) order.push(['id', order.at(-1)?.[1] ?? '']);
      const rows = await Essay.findAll({ order, attributes: ['id'] });
      const expected = rows.map(({ id }) => id);
      const first = await page({ sort });
      const there = await walk({ sort }, 'after', first.next_cursor ?? '');
      expect([...first.items.map(({ id }) => id), ...there]).to.deep.equal(expected);
      // The last page, by the cursor of the one before it.
      let last = first;
      while (last.next_cursor) last = await page({ sort, after: last.next_cursor });
      const back = await walk({ sort }, 'before', last.prev_cursor ?? '');
      expect(back.toReversed()).to.deep.equal(expected.slice(0, -last.items.length));
    });
  }

  it('finds the row by all attributes of its key', async () => {
    await Leaf.bulkCreate([3, 1, 2, 5, 4].map((id) => ({ tree: id % 2, id, text: long(String(9 - id)) })));
    const first = await page({ sort: 'text' }, '/leaves');
    const there = await walk({ sort: 'text' }, 'after', first.next_cursor ?? '', '/leaves');
    expect([...first.items.map(({ id }) => id), ...there]).to.deep.equal([5, 4, 3, 2, 1]);
    const last = await page({ sort: '-text' }, '/leaves');
    const back = await walk({ sort: '-text' }, 'after', last.next_cursor ?? '', '/leaves');
    expect([...last.items.map(({ id }) => id), ...back]).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('goes on in the list of a filter', async () => {
    const query = { sort: 'text', q: 'team==0' };
    const { items, next_cursor: next } = await page(query);
    expect(items).to.have.lengthOf(2);
    expect(await walk(query, 'after', next ?? '')).to.have.lengthOf(1);
  });

  it('[D13] says that the row of the cursor is gone', async () => {
    const { items, next_cursor: after } = await page({ sort: 'text' });
    await Essay.destroy({ where: { id: items[1]?.id as number } });
    expectIssue(await ask({ sort: 'text', after }), 400, GONE);
  });

  it('says that the row of the cursor has other values', async () => {
    const { items, next_cursor: after } = await page({ sort: 'text' });
    await Essay.update({ text: long('z') }, { where: { id: items[1]?.id as number } });
    expectIssue(await ask({ sort: 'text', after }), 400, GONE);
  });

  it('goes on where the row has other values that it is not sorted by', async () => {
    const { items, next_cursor: after } = await page({ sort: 'text' });
    await Essay.update({ team: 9 }, { where: { id: items[1]?.id as number } });
    await page({ sort: 'text', after });
  });

  it('goes on behind a row that is gone, as long as its values fit into the cursor', async () => {
    await Essay.update({ text: 'm'.repeat(2704) }, { where: { id: [1, 2, 3, 4] } });
    const query = { sort: 'id,text' };
    const { next_cursor: after } = await page(query);
    await Essay.destroy({ where: { id: 2 } });
    expect((await page({ ...query, after })).items.map(({ id }) => id)).to.deep.equal([3, 4]);
  });

  it('[D18] is no way to the rows of others', async () => {
    const { next_cursor: after } = await page({ sort: 'text' });
    const { status, body } = await ask({ sort: 'text', after }, '/essays', 2);
    expect([status, body.errors[0].code]).to.deep.equal([400, 'cursor.mismatch']);
  });

  it('walks rows by keys that are long', async () => {
    const keys = ['a', 'b', 'c'].map((key) => key.repeat(2900));
    await NamedEssay.bulkCreate(keys.map((id) => ({ id, text: long(id) })));
    const { items, next_cursor: next } = await page({}, '/named-essays');
    const ids = [...items.map(({ id }) => id), ...(await walk({}, 'after', next ?? '', '/named-essays'))];
    expect(ids).to.deep.equal(keys);
    const byKey = await page({ sort: 'id' }, '/named-essays');
    const rest = await walk({ sort: 'id' }, 'after', byKey.next_cursor ?? '', '/named-essays');
    expect(rest).to.deep.equal(keys.slice(1));
  });
});
