/** Where included rows end, and in which order they are. */
// @runs fast
import { expect } from 'chai';
import { BelongsTo, Column, DataType, HasMany, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const HOSTS = 200;
const MAX = 7;
/** The host that has more guests than others. */
const CROWDED = 77;

@Crud({
  pageSize: { max: HOSTS },
  include: {
    guests: { ...UNGUARDED, size: { default: 3, max: MAX } },
    'guests.host': UNGUARDED,
  },
} as object)
@Table({ tableName: 'hosts', timestamps: false })
class Host extends NumberedRow {
  @HasMany(() => Guest, { foreignKey: 'hostId', constraints: false }) declare guests?: unknown;
}

@Crud({ sortAllow: ['rank', 'id'], filterAllow: ['hostId', 'rank'] } as object)
@Table({ tableName: 'guests', timestamps: false })
class Guest extends NumberedRow {
  @Column(DataType.INTEGER) declare hostId: number;
  @Column(DataType.INTEGER) declare rank: number | null;
  @BelongsTo(() => Host, { foreignKey: 'hostId', constraints: false }) declare host?: unknown;
}

interface Guests {
  readonly items: readonly { readonly id: number }[];
  readonly has_next: boolean;
}

describe('cutting included rows', () => {
  const sql = new SqlLog();
  const log = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Host, Guest] as unknown as ModelClass[],
    bootstrap: { logger: log },
    engine: { models: [Host, Guest], logging: sql.record },
  }));

  before(() =>
    site.engine.sequelize.query(`
      INSERT INTO hosts (id) SELECT generate_series(1, ${HOSTS});
      INSERT INTO guests ("hostId", rank)
        SELECT h, NULLIF((g + h) % 3, 2) FROM generate_series(1, ${HOSTS}) AS h, generate_series(1, h % 10) AS g;
      INSERT INTO guests ("hostId", rank)
        SELECT ${CROWDED}, NULLIF(g % 1000, 999) FROM generate_series(1, 100000) AS g;
      CREATE INDEX ON guests ("hostId", rank, id); ANALYZE guests;`),
  );

  const get = async (path: string) => {
    log.clear();
    const { status, body } = await site.agent.get(path);
    expect(status, `${path}: ${log.text}${JSON.stringify(body)}`).to.equal(200);
    return body;
  };
  const guestsOf = async (host: number, query = ''): Promise<Guests> =>
    (await get(`/hosts/${host}?include=guests${query}`)).guests;

  it('[D9 R1 R10] tells at each size whether there are more', async () => {
    // Host 4 has four guests.
    for (const [size, count, hasNext] of [
      [0, 0, true],
      [3, 3, true],
      [4, 4, false],
      [5, 4, false],
      [MAX, 4, false],
    ] as const) {
      const guests = await guestsOf(4, `&guests.size=${size}`);
      expect([guests.items.length, guests.has_next], `${size}`).to.deep.equal([count, hasNext]);
    }
    expect(await guestsOf(10, '&guests.size=0')).to.deep.equal({ items: [], has_next: false });
    expect(await guestsOf(10)).to.deep.equal({ items: [], has_next: false });
    expect((await guestsOf(9)).items).to.have.length(3);
    expect(await guestsOf(7, `&guests.size=${MAX}`)).to.have.property('has_next', false);
    expect(await guestsOf(8, `&guests.size=${MAX}`)).to.have.property('has_next', true);
    const { body } = await site.agent.get(`/hosts/1?include=guests&guests.size=${MAX + 1}`).expect(400);
    expect(body.errors[0].detail).to.include(`from 0 to ${MAX}`);
  });

  it('[R12] gives the first rows of the list of the target, for equal values and none, too', async () => {
    for (const sort of ['rank', '-rank', 'rank,-id', '-id']) {
      for (const host of [9, CROWDED]) {
        for (const filter of ['', ';rank=isnull=true', ';rank=lt=1']) {
          const { items, total } = await get(`/guests?sort=${sort}&size=${MAX}&q=hostId==${host}${filter}`);
          const q = filter === '' ? '' : `&guests.q=${filter.slice(1)}`;
          const included = await guestsOf(host, `&guests.sort=${sort}&guests.size=${MAX}${q}`);
          expect(included, `${sort} ${host} ${filter}`).to.deep.equal({ items, has_next: total > MAX });
        }
      }
    }
  });

  it('[R11] gives each of 200 records its own rows, whatever others have, with the same statements as for one', async () => {
    const ask = (size: number) =>
      sql.duringRequest(() => get(`/hosts?size=${size}&include=guests.host&guests.fields=id,hostId`));
    const { result, statements } = await ask(HOSTS);
    const { statements: few } = await ask(1);
    expect(statements.map(shapeOf)).to.deep.equal(few.map(shapeOf));
    expect(result.items).to.have.length(HOSTS);
    for (const { id, guests } of result.items) {
      const count = id === CROWDED ? 100_000 + (id % 10) : id % 10;
      expect(guests.items, `${id}`).to.have.length(Math.min(count, 3));
      expect(guests.has_next).to.equal(count > 3);
      for (const guest of guests.items) expect([guest.hostId, guest.host.id]).to.deep.equal([id, id]);
    }
  });
});

/** A statement without the number of its rows. */
function shapeOf(statement: string): string {
  return statement.replace(/LIMIT \d+/, 'LIMIT n').replace(/\{[^}]*\}/g, '{}');
}
