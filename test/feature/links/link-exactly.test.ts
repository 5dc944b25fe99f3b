/** Links to exactly the records that a request names, and nothing that rules of others refuse, by either runner. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { QueryTypes } from 'sequelize';
import {
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  Index,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';
import { OVERRIDDEN } from './people.js';

const tenant = (request: Request): string => request.get('tenant') ?? 'A';

@Crud({ links: { stars: true, words: true, seats: true, shows: true, fares: true } })
@Table({ tableName: 'halls', timestamps: false })
class Hall extends NumberedRow {
  @BelongsToMany(
    () => Star,
    () => HallStar,
  )
  declare stars?: Star[];
  @BelongsToMany(() => Word, {
    through: () => HallWord,
    foreignKey: 'hallId',
    otherKey: 'spelling',
    targetKey: 'spelling',
  } as never)
  declare words?: Word[];
  @BelongsToMany(
    () => Star,
    () => Seat,
  )
  declare seats?: Star[];
  @BelongsToMany(
    () => Show,
    () => HallShow,
  )
  declare shows?: Show[];
  @BelongsToMany(
    () => Fare,
    () => HallFare,
  )
  declare fares?: Fare[];
}

/** Its key has several texts for one number. */
@Crud()
@Table({ tableName: 'fares', timestamps: false })
class Fare extends Model {
  @PrimaryKey @Column(DataType.DECIMAL) declare price: string;
}

@Table({ tableName: 'hall_fares', timestamps: false })
class HallFare extends Model {
  @ForeignKey(() => Hall) @PrimaryKey @Column(DataType.INTEGER) declare hallId: number;
  @ForeignKey(() => Fare) @PrimaryKey @Column(DataType.DECIMAL) declare farePrice: string;
  @Column(DataType.TEXT) declare note: string | null;
}

@Crud()
@Table({ tableName: 'shows', timestamps: false })
class Show extends Model {
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
}

@Table({ tableName: 'hall_shows', timestamps: false })
class HallShow extends Model {
  @ForeignKey(() => Hall) @PrimaryKey @Column(DataType.INTEGER) declare hallId: number;
  @ForeignKey(() => Show) @PrimaryKey @Column(DataType.DATE) declare showAt: Date;
}

@Crud()
@Table({ tableName: 'stars', timestamps: false })
class Star extends Model {
  @PrimaryKey @Column(DataType.BIGINT) declare id: string;
}

@Table({ tableName: 'hall_stars', timestamps: false })
class HallStar extends Model {
  @ForeignKey(() => Hall) @PrimaryKey @Column(DataType.INTEGER) declare hallId: number;
  @ForeignKey(() => Star) @PrimaryKey @Column(DataType.BIGINT) declare starId: string;
}

/** Linked by an attribute that may be null. */
@Crud()
@Table({ tableName: 'words', timestamps: false })
class Word extends NumberedRow {
  @Column({ type: DataType.TEXT, unique: true }) declare spelling: string | null;
}

@Table({ tableName: 'hall_words', timestamps: false })
class HallWord extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare hallId: number;
  @PrimaryKey @Column(DataType.TEXT) declare spelling: string;
}

/** Of a tenant. */
@Crud({ scope: { tenant } })
@Table({ tableName: 'ushers', timestamps: false })
class Usher extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
}

/** With a unique attribute of its own, and one that names a record of a tenant. */
@Table({ tableName: 'seats', timestamps: false })
class Seat extends NumberedRow {
  @Index({ name: 'one_seat', unique: true })
  @ForeignKey(() => Hall)
  @Column(DataType.INTEGER)
  declare hallId: number;
  @Index({ name: 'one_seat', unique: true })
  @ForeignKey(() => Star)
  @Column(DataType.BIGINT)
  declare starId: string;
  @Column({ type: DataType.INTEGER, unique: true }) declare row: number | null;
  @ForeignKey(() => Usher) @Column(DataType.INTEGER) declare usherId: number | null;
}

const MODELS = [
  Hall,
  Star,
  HallStar,
  Word,
  HallWord,
  Usher,
  Seat,
  Show,
  HallShow,
  Fare,
  HallFare,
] as ModelClass[];

except(OVERRIDDEN).describe('links to exactly what a request names', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: MODELS,
      bootstrap: { models: [Hall, Star, Word, Usher, Show, Fare] as ModelClass[], logger: new CapturedLog() },
    }),
  );
  let rows = '';
  const sql = (text: string) => paths.site.engine.sequelize.query(text);
  const reset = () =>
    sql(`TRUNCATE halls, stars, hall_stars, words, hall_words, ushers, seats, shows, hall_shows, fares, hall_fares RESTART IDENTITY;
      INSERT INTO halls (id) VALUES (1), (2);
      INSERT INTO stars (id) VALUES (7), (9007199254740992), (9007199254740993);
      INSERT INTO words (id, spelling) VALUES (1, NULL), (2, 'null'), (3, NULL);
      INSERT INTO ushers (id, tenant) VALUES (1, 'A'), (2, 'B');
      ${rows}`);
  const send = async (method: string, path: string, body?: unknown, more: Partial<WholeRequest> = {}) => {
    await reset();
    const answer = await paths.same(
      { method, path, ...(body === undefined ? {} : { body }), ...more },
      reset,
    );
    return { status: answer.status, body: answer.body === '' ? null : JSON.parse(answer.body) };
  };
  const stored = async (path: string, body: unknown, query: string) => {
    await reset();
    await paths.site.agent.put(path).send(body as object);
    return paths.site.engine.sequelize.query(query, { type: QueryTypes.SELECT, useMaster: true });
  };
  beforeEach(() => {
    rows = '';
  });

  it('take no number that JSON has rounded', async () => {
    const headers = { 'Content-Type': 'application/json' };
    for (const file of ['[{"id":9007199254740993}]', '[{"id":7}]']) {
      const { status, body } = await send('POST', '/halls/1/stars', undefined, { file, headers });
      expect(status).to.equal(422);
      expect(body.errors[0]).to.include({ pointer: '/0/id', code: 'id' });
    }
    const { body } = await send('POST', '/halls/1/stars', [{ id: '9007199254740993' }]);
    expect(body).to.deep.equal({ items: [{ id: '9007199254740993' }], added: 1 });
  });

  it('are answered with the ids of paths, where a key is a moment', async () => {
    rows = `INSERT INTO shows (at) VALUES ('2026-01-31 19:30:00+00')`;
    const id = '2026-01-31T19:30:00.000Z';
    expect(await send('POST', '/halls/1/shows', [{ id }])).to.deep.equal({
      status: 200,
      body: { items: [{ id }], added: 1 },
    });
  });

  it('refuse a record without the key of the relation, and link none that has its text', async () => {
    const detail = 'This Word has no spelling by which it can be linked.';
    expect(await send('PUT', '/halls/1/words/1')).to.deep.equal({ status: 409, body: { detail } });
    const { status, body } = await send('POST', '/halls/1/words', [{ id: 2 }, { id: 3 }, { id: 1 }]);
    expect(status).to.equal(409);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal(['/1/id', '/2/id']);
    expect((await send('PUT', '/halls/1/words/2')).status).to.equal(201);
    expect((await send('DELETE', '/halls/1/words/1')).status).to.equal(404);
  });

  it('name no record of another tenant in an attribute', async () => {
    const missing = await send('PUT', '/halls/1/seats/7', { usherId: 9 });
    expect(missing.status).to.equal(409);
    expect(await send('PUT', '/halls/1/seats/7', { usherId: 2 })).to.deep.equal(missing);
    expect(await send('POST', '/halls/1/seats', [{ id: '7', usherId: 2 }])).to.deep.equal(missing);
    rows = 'INSERT INTO seats ("hallId", "starId") VALUES (1, 7)';
    expect(await send('PUT', '/halls/1/seats/7', { usherId: 2 })).to.deep.equal(missing);
    expect(await send('PUT', '/halls/1/seats/7', { usherId: 1 })).to.deep.equal({
      status: 200,
      body: { id: '7', row: null, usherId: 1 },
    });
    expect(
      (await send('PUT', '/halls/1/seats/7', { usherId: 2 }, { headers: { tenant: 'B' } })).status,
    ).to.equal(200);
  });

  it('say that another unique value is taken, also by another link of the body', async () => {
    const taken = { status: 409, body: { detail: 'Another record has the same unique value.' } };
    const two = [
      { id: '7', row: 5 },
      { id: '9007199254740992', row: 5 },
    ];
    expect(await send('PUT', '/halls/1/seats', two)).to.deep.equal(taken);
    expect(await stored('/halls/1/seats', two, 'SELECT * FROM seats')).to.deep.equal([]);
    rows = 'INSERT INTO seats ("hallId", "starId", row) VALUES (2, 7, 5)';
    expect(await send('PUT', '/halls/1/seats/7', { row: 5 })).to.deep.equal(taken);
  });

  it('report no link as removed or made that a trigger has refused', async () => {
    await sql(`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
    const put = () => paths.site.agent.put('/halls/1/seats').send([{ id: '7', row: 3 }]);
    for (const event of ['DELETE', 'INSERT']) {
      rows = event === 'INSERT' ? '' : 'INSERT INTO seats ("hallId", "starId") VALUES (1, 7)';
      await reset();
      await sql(`CREATE TRIGGER keep BEFORE ${event} ON seats FOR EACH ROW EXECUTE FUNCTION keep()`);
      try {
        const { status } = await (event === 'DELETE' ? paths.site.agent.delete('/halls/1/seats/7') : put());
        expect(status, event).to.equal(409);
        const left = 'SELECT row FROM seats';
        const kept = await paths.site.engine.sequelize.query(left, { type: QueryTypes.SELECT });
        expect(kept, event).to.deep.equal(event === 'INSERT' ? [] : [{ row: null }]);
      } finally {
        await sql('DROP TRIGGER keep ON seats');
      }
    }
  });

  it('show the attributes of a link whose key has another text than that of its record', async () => {
    rows = `INSERT INTO fares VALUES (2), (3.50); INSERT INTO hall_fares VALUES (1, 2.0, 'low'), (1, 3.5, 'high')`;
    try {
      const { body } = await send('GET', '/halls/1/fares?sort=price');
      expect(body.items).to.deep.equal([
        { price: '2', link: { note: 'low' } },
        { price: '3.50', link: { note: 'high' } },
      ]);
    } finally {
      rows = '';
    }
  });
});
