/** Dry runs of imports in parts: rows of a later part meet those of an earlier one, as they do when they are stored. */
// @runs fast
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ import: { modes: ['create', 'upsert'] }, upsert: [['code']] })
@Table({ tableName: 'crates', timestamps: false })
class Crate extends KeyedRow {
  @Column({ type: DataType.TEXT, unique: true, allowNull: false }) declare code: string;
  @Column(DataType.TEXT) declare note: string | null;
}

@Crud({ import: {} })
@Table({ tableName: 'boxes', timestamps: false })
class Box extends KeyedRow {
  @ForeignKey(() => Box) @Column(DataType.INTEGER) declare parentId: number | null;
  @BelongsTo(() => Box) declare parent?: Box;
  @Column(DataType.TEXT) declare note: string | null;
}

/** A part has so many of the rows. */
const PART = 12;
const NOTE = 'n'.repeat(90_000);

except(OF_MANY).describe('trying an import in parts', () => {
  const site = serveTestApp(() => ({
    minPool: 2,
    models: [Crate, Box],
    bootstrap: { indexAdvice: false, idempotency: { principal: () => 'ann' } },
  }));
  const send = (path: string, query: string, file: string, key?: string): Promise<Response> =>
    site.agent
      .post(`/${path}/import?atomic=false${query}`)
      .set({ 'Content-Type': 'text/csv', ...(key === undefined ? {} : { 'Idempotency-Key': key }) })
      .send(file) as never;
  const rows = Array.from({ length: PART }, (_, index) => index + 1);

  beforeEach(() => emptyTables(site, 'boxes', 'crates', 'crud_import'));

  /** Tries a file, which has to leave nothing, and stores it. */
  const expectSame = async (path: string, query: string, file: string) => {
    const tried = await send(path, `${query}&dry_run=true`, file);
    expect((await site.agent.get(`/${path}?size=1`)).body.items).to.deep.equal([]);
    const stored = await send(path, query, file, `${path}${query}`);
    expectJson(tried, stored.status, stored.body);
    return stored;
  };

  it('refuses a key of a part before, and finds its record where the mode is upsert', async () => {
    const file = `id,code,note\n${rows.map((id) => `${id},c${id},${NOTE}\n`).join('')}${PART + 1},c1,\n`;
    const { status, body } = await expectSame('crates', '&mode=create', file);
    expect([status, body.created, body.errors[0].row]).to.deep.equal([207, PART, PART + 1]);
    await emptyTables(site, 'crates');
    const byCode = `code,id,note\n${rows.map((id) => `c${id},${id},${NOTE}\n`).join('')}c1,1,\n`;
    const changed = await expectSame('crates', '&mode=upsert&on=code', byCode);
    expect([changed.status, changed.body.created, changed.body.updated]).to.deep.equal([200, PART, 1]);
  });

  it('finds the parent of a row in a part before', async () => {
    const file = `id,parentId,note\n${rows.map((id) => `${id},,${NOTE}\n`).join('')}${PART + 1},1,\n`;
    const { status, body } = await expectSame('boxes', '', file);
    expect([status, body.created]).to.deep.equal([200, PART + 1]);
  });
});
