/** Sorting a list: always a total order, the client's where it names one. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectIssue } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Ranked extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @Column({ type: DataType.INTEGER, field: 'the_rank' }) declare rank: number | null;
  @Column(DataType.ENUM('low', 'high', 'extreme')) declare level: string | null;
}

@Crud({ sortAllow: ['id', 'name', 'rank', 'level'], defaultSort: '-rank,name' } as object)
@Table({ tableName: 'ranked', timestamps: false })
class Sorted extends Ranked {}

@Crud()
@Table({ tableName: 'plain', timestamps: false })
class Plain extends Ranked {}

@Crud({ sortAllow: [] })
@Table({ tableName: 'unsortable', timestamps: false })
class Unsortable extends Ranked {}

const ROWS = [
  { name: 'b', rank: 1, level: 'low' },
  { name: 'a', rank: 1, level: 'extreme' },
  { name: 'c', rank: null, level: 'high' },
  { name: 'b', rank: 2, level: null },
  { name: 'a', rank: null, level: 'low' },
];

describe('sorting a list', () => {
  const models = [Sorted, Plain, Unsortable];
  const site = serveTestApp(() => ({ models, bootstrap: { logger: new CapturedLog() } }));

  before(async () => {
    for (const model of models) await model.bulkCreate(ROWS as never[]);
  });

  async function ids(query: string, path = '/sorteds'): Promise<number[]> {
    const { status, body } = await site.agent.get(`${path}?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.items.map(({ id }: Ranked) => id);
  }

  const ORDERS: Readonly<Record<string, readonly number[]>> = {
    '': [5, 3, 4, 2, 1],
    'sort=name': [2, 5, 1, 4, 3],
    'sort=-name': [3, 4, 1, 5, 2],
    'sort=%2Bname': [2, 5, 1, 4, 3],
    'sort=+name': [2, 5, 1, 4, 3],
    'sort=name,-id': [5, 2, 4, 1, 3],
    'sort=rank': [1, 2, 4, 3, 5],
    'sort=-rank': [5, 3, 4, 2, 1],
    'sort=rank,name': [2, 1, 4, 5, 3],
    'sort=level': [1, 5, 3, 2, 4],
    'sort=-level,name': [4, 2, 3, 5, 1],
    'sort=-level&sort=name': [4, 2, 3, 5, 1],
    'sort[]=-level&sort%5B%5D=name': [4, 2, 3, 5, 1],
    'sort[0]=-level&size=5&sort[1]=name': [4, 2, 3, 5, 1],
    'sort=name&sort=-level': [2, 5, 4, 1, 3],
    'sort=id,name': [1, 2, 3, 4, 5],
    'sort=-id': [5, 4, 3, 2, 1],
  };
  for (const [query, expected] of Object.entries(ORDERS)) {
    it(`by '${query}', NULLs as the largest and ties by the key`, async () =>
      expect(await ids(query)).to.deep.equal(expected));
  }

  it('holds over pages', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => ids(`sort=rank&size=2&page=${page}`)));
    expect(pages.flat()).to.deep.equal([1, 2, 4, 3, 5]);
  });

  it('is by the key alone unless more is allowed', async () => {
    expect(await ids('', '/plains')).to.deep.equal([1, 2, 3, 4, 5]);
    expect(await ids('sort=-id', '/plains')).to.deep.equal([5, 4, 3, 2, 1]);
    const { status, body } = await site.agent.get('/plains?sort=name');
    const detail = "Cannot sort by 'name'. Sortable: id.";
    const issue = { parameter: 'sort', code: 'sort.unknown-field', detail, allowed: ['id'] };
    expect([status, body.errors]).to.deep.equal([400, [issue]]);
  });

  it('can be forbidden altogether', async () => {
    const response = await site.agent.get('/unsortables?sort=id');
    expect(response.status).to.equal(400);
    expect(response.body.detail).to.equal("Cannot sort by 'id'. Nothing can be sorted here.");
  });

  for (const query of ['sort=name,-name', 'sort=name&sort=-name', 'sort[]=name&sort=name']) {
    it(`refuses a name given twice by '${query}'`, async () => {
      const detail = "'name' may be named once in sort.";
      const issue = { parameter: 'sort', code: 'sort.repeated', detail };
      expectIssue(await site.agent.get(`/sorteds?${query}`), 400, issue);
    });
  }

  for (const name of ['sort[1]', 'sort[x]', 'sort[][]', 'sort[', 'page[]', 'sort[asc]']) {
    it(`refuses '${name}'`, async () => {
      const { status, body } = await site.agent.get(`/sorteds?${name}=1`);
      const { parameter, code } = body.errors[0];
      expect([status, parameter, code]).to.deep.equal([400, name, 'unknown']);
    });
  }

  it('refuses the syntax of others', async () => {
    for (const sort of ['name:desc', 'name%20desc', 'name.desc', '', 'name;id', 'the_rank']) {
      const { status, body } = await site.agent.get(`/sorteds?sort=${sort}`);
      expect([status, body.errors?.[0]?.code], sort).to.deep.equal([400, 'sort.unknown-field']);
    }
  });
});
