/** Sorting a list: always a total order, the client's where it names one. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { onPath } from '../../support/combination.js';
import { expectIssue } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
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
  const sql = new SqlLog();
  const models = [Sorted, Plain, Unsortable];
  const site = serveTestApp(() => ({
    models,
    engine: { logging: sql.record },
    bootstrap: { logger: new CapturedLog() },
  }));

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
    'sort=id,name': [1, 2, 3, 4, 5],
    'sort=-id': [5, 4, 3, 2, 1],
  };
  for (const [query, expected] of Object.entries(ORDERS)) {
    it(`by '${query}', NULLs as the largest and ties by the key`, async () => {
      expect(await ids(query)).to.deep.equal(expected);
    });
  }

  it('holds over pages', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => ids(`sort=rank&size=2&page=${page}`)));
    expect(pages.flat()).to.deep.equal([1, 2, 4, 3, 5]);
  });

  it('is asked of the database with the key last, in the direction of the last name', async () => {
    const { statements } = await sql.duringRequest(() => site.agent.get('/sorteds?sort=name,-rank'));
    const expected = onPath({
      fast:
        'SELECT "id", "name", "the_rank", "level" FROM "ranked" AS "Sorted" ' +
        'ORDER BY "Sorted"."name", "Sorted"."the_rank" DESC, "Sorted"."id" DESC LIMIT 20',
      general:
        'SELECT "id", "name", "the_rank" AS "rank", "level" FROM "ranked" AS "Sorted" ' +
        'ORDER BY "Sorted"."name" ASC, "rank" DESC, "Sorted"."id" DESC LIMIT 20 OFFSET 0;',
    });
    expect(statements).to.deep.equal([expected]);
  });

  it('is by the key alone unless more is allowed', async () => {
    expect(await ids('', '/plains')).to.deep.equal([1, 2, 3, 4, 5]);
    expect(await ids('sort=-id', '/plains')).to.deep.equal([5, 4, 3, 2, 1]);
    const response = await site.agent.get('/plains?sort=name');
    expect(response.status).to.equal(400);
    expect(response.body.errors).to.deep.equal([
      {
        parameter: 'sort',
        code: 'sort.unknown-field',
        detail: "Cannot sort by 'name'. Sortable: id.",
        allowed: ['id'],
      },
    ]);
  });

  it('can be forbidden altogether', async () => {
    const response = await site.agent.get('/unsortables?sort=id');
    expect(response.status).to.equal(400);
    expect(response.body.detail).to.equal("Cannot sort by 'id'. Nothing can be sorted here.");
  });

  it('refuses a name given twice', async () => {
    expectIssue(await site.agent.get('/sorteds?sort=name,-name'), 400, {
      parameter: 'sort',
      code: 'sort.repeated',
      detail: "'name' may be named once in sort.",
    });
  });

  it('refuses the parameter given twice', async () => {
    expectIssue(await site.agent.get('/sorteds?sort=name&sort=id'), 400, {
      parameter: 'sort',
      code: 'repeated',
      detail: "Parameter 'sort' may be given once.",
    });
  });

  it('refuses the syntax of others', async () => {
    for (const query of [
      'sort=name:desc',
      'sort=name%20desc',
      'sort=name.desc',
      'sort=',
      'sort=name;id',
      'sort=the_rank',
    ]) {
      const { status, body } = await site.agent.get(`/sorteds?${query}`);
      expect([status, body.errors?.[0]?.code], query).to.deep.equal([400, 'sort.unknown-field']);
    }
  });
});
