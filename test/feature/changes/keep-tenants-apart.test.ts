/** A subscriber of one tenant never gets an id that was another one's all the time, and is told of each that was its own. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, filter } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_FEEDS } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { OpenStream, requestStream } from '../../support/open-stream.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { wholeOr } from '../../support/short.js';
import { serveTestApp } from '../../support/test-app.js';

const CHANGES = wholeOr(1_500, 10_000);
const TENANTS = [1, 2, 3];

@Crud({
  changes: true,
  filterAllow: ['rank'],
  scope: { tenant: ({ headers }) => Number(headers['x-tenant']) },
  visible: () => filter`secret==false`,
})
@Table({ tableName: 'papers', timestamps: true, createdAt: false, updatedAt: false, paranoid: true })
class Paper extends NumberedRow {
  @Column(DataType.INTEGER) declare tenant: number;
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare secret: boolean;
  @Column(DataType.INTEGER) declare rank: number;
}

/** A row, as far as it decides who sees it. */
interface State {
  readonly tenant: number;
  readonly secret: boolean;
  readonly rank: number;
  readonly deleted: boolean;
}

/** An event, as the test expects it. */
type Told = readonly [op: string, id: string];

except(OF_FEEDS).describe('feeds of tenants', () => {
  const database = forSuite(() => freshDatabase());
  const site = serveTestApp(() => ({
    models: [Paper],
    database: { url: database.url },
    bootstrap: { changes: { tick: 50 }, indexAdvice: false },
  }));
  const other = forSuite(() => connectTo(database.url));

  it('have exactly the events of the rows that each may see', async () => {
    const random = (below: number) => Math.floor(Math.random() * below);
    const conditions = TENANTS.flatMap((tenant) => [
      { tenant, q: '', sees: (_row: State) => true },
      { tenant, q: 'rank>=50', sees: ({ rank }: State) => rank >= 50 },
    ]);
    const streams = await Promise.all(
      conditions.map(async ({ tenant, q }) => {
        const url = `${site.server.url}/papers/changes${q && `?q=${q}`}`;
        const response = await requestStream(url, { 'X-Tenant': String(tenant) });
        return new OpenStream(response).until(({ ids }) => ids.length > 0);
      }),
    );
    const expected: Told[][] = conditions.map(() => []);
    const rows = new Map<string, State>();
    const note = (id: string, before: State | undefined, after: State | undefined): void => {
      for (const [index, { tenant, sees }] of conditions.entries()) {
        const isSeen = (row: State | undefined) =>
          row !== undefined && row.tenant === tenant && !row.secret && !row.deleted && sees(row);
        const [was, is] = [isSeen(before), isSeen(after)];
        if (was || is) expected[index]?.push([was ? (is ? 'update' : 'delete') : 'create', id]);
      }
    };
    const make = (): State => ({
      tenant: TENANTS[random(TENANTS.length)] as number,
      secret: random(4) === 0,
      rank: random(100),
      deleted: random(5) === 0,
    });
    for (let turn = 0; turn < CHANGES; turn += 1) {
      const ids = [...rows.keys()];
      const id = ids[random(ids.length)];
      const before = id === undefined ? undefined : rows.get(id);
      if (id === undefined || !before || random(5) === 0) {
        const row = make();
        const { rows: made } = await other.query(
          'INSERT INTO papers (tenant, secret, rank, "deletedAt") VALUES ($1, $2, $3, $4) RETURNING id::text',
          [row.tenant, row.secret, row.rank, row.deleted ? new Date() : null],
        );
        rows.set(made[0].id, row);
        note(made[0].id, undefined, row);
      } else if (random(8) === 0) {
        await other.query('DELETE FROM papers WHERE id = $1', [id]);
        rows.delete(id);
        note(id, before, undefined);
      } else {
        const { tenant, secret, rank, deleted } = {
          ...before,
          ...Object.fromEntries([Object.entries(make())[random(4)] as [string, never]]),
        };
        const after = { tenant, secret, rank, deleted };
        await other.query(
          'UPDATE papers SET tenant = $2, secret = $3, rank = $4, "deletedAt" = CASE WHEN $5 THEN coalesce("deletedAt", now()) END WHERE id = $1',
          [id, tenant, secret, rank, deleted],
        );
        rows.set(id, after);
        // A write that changes nothing is no event.
        if (JSON.stringify(before) !== JSON.stringify(after)) note(id, before, after);
      }
    }
    for (const [index, stream] of streams.entries()) {
      const wanted = expected[index] as Told[];
      await stream.until(({ events }) => events.length >= wanted.length, 20_000);
      expect(stream.events.map(({ op, id }) => [op, id])).to.deep.equal(wanted);
    }
  }).timeout(120_000);
});
