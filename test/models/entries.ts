/** Two resources paged by cursor, and an application that serves them to the tests of a suite. */
import { expect } from 'chai';
import { beforeEach } from 'mocha';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud } from '../../src/index.js';
import { CapturedLog } from '../support/captured-log.js';
import { emptyTables } from '../support/empty-tables.js';
import { SqlLog } from '../support/sql-log.js';
import { serveTestApp } from '../support/test-app.js';
import { NumberedRow } from './rows.js';

const LIST = {
  pagination: 'cursor',
  pageSize: { default: 2, max: 5 },
  sortAllow: ['id', 'rank', 'made', 'name'],
  filterAllow: ['rank', 'name'],
} as object;

abstract class Entry extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @Column(DataType.INTEGER) declare rank: number | null;
  @Column(DataType.DATE) declare made: Date | null;
}

@Crud(LIST)
@Table({ tableName: 'entries', timestamps: false })
export class Item extends Entry {}

@Crud({ ...LIST, defaultSort: '-rank' })
@Table({ tableName: 'others', timestamps: false })
export class Other extends Entry {}

export const quiet = { logger: new CapturedLog() };

export type Query = Record<string, string | number>;

/** A site of items `a` to `e`, anew for each test. */
export class EntrySite {
  readonly sql = new SqlLog();
  readonly app = serveTestApp(() => ({
    models: [Item, Other],
    engine: { logging: this.sql.record },
    bootstrap: quiet,
  }));

  constructor() {
    beforeEach(async () => {
      await emptyTables(this.app, 'entries', 'others');
      await Item.bulkCreate(['a', 'b', 'c', 'd', 'e'].map((name) => ({ name })));
    });
  }

  readonly ask = (query: Query = {}, path = '/items'): PromiseLike<Response> =>
    this.app.agent.get(path).query(query);

  readonly page = async (query: Query = {}, path = '/items') => {
    const { status, body } = await this.ask(query, path);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as {
      items: { id: number }[];
      next_cursor: string;
      prev_cursor: string;
      has_next: boolean;
      has_prev: boolean;
    };
  };
}

export const ids = ({ items }: { items: readonly { id: number }[] }): number[] => items.map(({ id }) => id);
