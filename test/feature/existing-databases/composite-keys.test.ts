/** Tables whose rows several columns tell apart, or none: lists, cursors and ids. */
import { expect } from 'chai';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** Nothing addresses one of them. */
@Crud({ endpoints: ['list', 'create'], pagination: 'cursor', sortAllow: ['orderId', 'lineNo', 'quantity'] })
@Table({ tableName: 'listed_lines', timestamps: false })
class ListedLine extends Model {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare orderId: number;
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare lineNo: number;
  @Column({ type: DataType.INTEGER }) declare quantity: number | null;
}

@Crud({ endpoints: ['list', 'create'], defaultSort: '-day,text' })
@Table({ tableName: 'log_entries', timestamps: false })
class LogEntry extends Model {
  @Column({ type: DataType.DATEONLY, allowNull: false }) declare day: string;
  @Column({ type: DataType.TEXT, allowNull: false, defaultValue: 'started' }) declare text: string;
}

except(OF_MANY).describe('a table without an id of one column', () => {
  const site = serveTestApp(() => ({
    models: [ListedLine, LogEntry],
    // The usual way to a model without a key.
    prepare: () => LogEntry.removeAttribute('id'),
  }));

  before(() => site.engine.sequelize.query('ALTER TABLE log_entries DROP COLUMN id'));

  beforeEach(() => emptyTables(site, 'listed_lines', 'log_entries'));

  async function walk(query: string): Promise<string[][]> {
    const pages: string[][] = [];
    for (let place = ''; ; ) {
      const { body } = await site.agent.get(`/listed-lines?size=3&${query}${place}`).expect(200);
      pages.push(
        (body.items as ListedLine[]).map(
          ({ orderId, lineNo, quantity }) => `${orderId},${lineNo}:${quantity}`,
        ),
      );
      if (body.next_cursor === null) break;
      place = `&after=${body.next_cursor}`;
    }
    return pages;
  }

  it('is listed by its whole key, and each row comes once', async () => {
    const rows = [1, 2, 3].flatMap((orderId) =>
      [1, 2, 3].map((lineNo) => ({ orderId, lineNo, quantity: lineNo === 3 ? null : orderId % 2 })),
    );
    await ListedLine.bulkCreate(rows);
    const text = (row: (typeof rows)[number]) => `${row.orderId},${row.lineNo}:${row.quantity}`;
    for (const [query, order] of [
      ['', (row: (typeof rows)[number]) => [row.orderId, row.lineNo]],
      ['sort=-orderId', (row: (typeof rows)[number]) => [-row.orderId, -row.lineNo]],
      ['sort=lineNo,-orderId', (row: (typeof rows)[number]) => [row.lineNo, -row.orderId]],
      ['sort=quantity', (row: (typeof rows)[number]) => [row.quantity ?? 9, row.orderId, row.lineNo]],
      ['sort=-quantity', (row: (typeof rows)[number]) => [-(row.quantity ?? 9), -row.orderId, -row.lineNo]],
    ] as const) {
      const sorted = rows.toSorted((one, other) => {
        const [left, right] = [order(one), order(other)];
        const first = left.findIndex((each, index) => each !== right[index]);
        return (left[first] ?? 0) - (right[first] ?? 0);
      });
      expect((await walk(query)).flat(), query).to.deep.equal(sorted.map(text));
    }
  });

  it('is written into, with all parts of the key', async () => {
    const line = { orderId: 1, lineNo: 1, quantity: null };
    expectJson(await site.agent.post('/listed-lines').send({ orderId: 1, lineNo: 1 }), 201, line);
    const entry = { day: '2026-01-31', text: 'started' };
    expectJson(await site.agent.post('/log-entries').send({ day: '2026-01-31' }), 201, entry);
    const { body } = await site.agent.get('/log-entries');
    expect(body.items).to.deep.equal([entry]);
  });
});
