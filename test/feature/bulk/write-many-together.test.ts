/** Many records in one request that one statement writes: the visible records of its answer, and the cases that are repeated in another way. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Interceptor, type InterceptorInterface } from 'routing-controllers';
import { Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['read', 'createMany', 'deleteMany'], filterAllow: ['id'], scope: { tenant: () => 1 } })
@Table({ tableName: 'bags', timestamps: false, indexes: [{ fields: ['tenant', 'id'] }] })
class Bag extends NumberedRow {
  /** The database itself would accept a row without a tenant. */
  @Column(DataType.INTEGER) declare tenant: number | null;
}

@Crud({ endpoints: ['create', 'createMany', 'updateMany', 'deleteMany'], filterAllow: ['size'] })
@Table({ tableName: 'pebbles', timestamps: false, indexes: [{ fields: ['size', 'name'] }] })
class Pebble extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare name: string;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare size: number;

  @ForeignKey(() => Bag)
  @Column({ type: DataType.INTEGER, references: { model: 'bags', key: 'id' } })
  declare bagId: number | null;
}

/** Code of the user's shows it, and cannot show each. */
@Crud({ endpoints: ['createMany', 'updateMany'], fields: { note: { read: () => false } } })
@Table({ tableName: 'shells', timestamps: false })
class Shell extends KeyedRow {
  @Column(DataType.STRING(10))
  get text(): string {
    return speak(this.getDataValue('text')) as string;
  }

  @Column({ type: DataType.STRING(10), unique: true }) declare note: string | null;
}

/** Its key is for the server alone. */
@Crud({ endpoints: ['updateMany'], filterAllow: ['name'] })
@Table({ tableName: 'seals', timestamps: false })
class Seal extends Model {
  @Exclude() @PrimaryKey @Column(DataType.STRING(10)) declare id: string;
  @Column(DataType.STRING(10)) declare name: string;
  @Column(DataType.INTEGER) declare size: number | null;
}

/** Sees the answer. */
@Interceptor()
class Wrap implements InterceptorInterface {
  intercept(_action: unknown, content: unknown): unknown {
    return { wrapped: content };
  }
}

function speak(value: unknown): unknown {
  if (value === 'secret') throw new RangeError('This cannot be said.');
  return value;
}

/** The check of the server fails for `broken`, and counts its calls. */
const BREAK = `
  CREATE SEQUENCE tries;
  CREATE FUNCTION is_whole(name text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      IF name = 'broken' THEN
        PERFORM nextval('tries');
        RAISE EXCEPTION 'it is broken' USING ERRCODE = 'XX000';
      END IF;
      RETURN true;
    END $$;
  ALTER TABLE pebbles ADD CHECK (is_whole(name))`;

except(OF_MANY).describe('many records that one statement writes', () => {
  const sql = new SqlLog();
  const log = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Bag, Pebble, Shell, Seal],
    engine: { logging: sql.record },
    bootstrap: { logger: log },
    minPool: 2,
  }));
  const post = (query: string, body: readonly object[]) =>
    site.agent.post(`/pebbles${query}`).send(body as object);
  const TWO = [{ name: 'a' }, { name: 'b', size: 2 }];
  const MADE = [
    { name: 'a', size: 0, bagId: null },
    { name: 'b', size: 2, bagId: null },
  ];

  before(() => site.engine.sequelize.query(BREAK));

  beforeEach(async () => {
    log.clear();
    await emptyTables(site, 'pebbles', 'bags', 'shells', 'seals');
  });

  except({
    general: 'it counts statements of ours',
    values: 'an interceptor sees the answer',
    unit: 'a unit of work begins and commits',
    records: 'overrides are called',
  }).it('[M6 M27] are written with no other statement', async () => {
    const FIVE = TWO.map(({ name }) => ({ name, size: 5 }));
    const send = async () => [
      (await post('', TWO)).status,
      (await site.agent.patch('/pebbles').send(FIVE)).status,
      (await site.agent.patch('/pebbles?q=size=ge=5').send({ size: 7 })).status,
      (await site.agent.delete('/pebbles?q=size==7')).status,
    ];
    await send();
    const { result, statements } = await sql.during(send);
    expect(result).to.deep.equal([201, 200, 200, 200]);
    expect(statements).to.have.length(4);
  });

  it('are values for an interceptor', async () => {
    const { agent } = await buildApp({ models: [Bag, Pebble], routing: { interceptors: [Wrap] } });
    expectJson(await agent.post('/pebbles').send(TWO), 201, { wrapped: { items: MADE } });
  });

  it('are written as the application writes JSON', async () => {
    const { agent } = await buildApp({ models: [Bag, Pebble] }, (app) => app.set('json spaces', 2));
    const { text } = await agent.post('/pebbles').send(TWO);
    expect(text).to.equal(JSON.stringify({ items: MADE }, null, 2));
  });

  it('are not written where a getter cannot show one', async () => {
    const make = (texts: readonly string[]) => texts.map((text, index) => ({ id: index + 1, text }));
    const send = (method: 'post' | 'patch', ...texts: string[]) =>
      site.agent[method]('/shells').send(make(texts));
    expect((await send('post', 'a', 'secret')).status).to.equal(500);
    expect(await Shell.count()).to.equal(0);
    expect((await send('post', 'a', 'b')).status).to.equal(201);
    expect((await send('patch', 'c', 'secret')).status).to.equal(500);
    expect(await Shell.count({ where: { text: ['a', 'b'] } })).to.equal(2);
  });

  it('are answered without what the request may not read', async () => {
    for (const app of [{}, { interceptors: [Wrap] }]) {
      const { agent } = await buildApp({ models: [Bag, Pebble, Shell], routing: app });
      for (const query of ['', '?atomic=false', '?dry_run=true']) {
        await Shell.destroy({ truncate: true });
        const { body } = await agent.post(`/shells${query}`).send([{ id: 1, note: 'n' }]);
        const [entry] = (body.wrapped ?? body).items;
        expect(entry.item ?? entry, query).to.deep.equal({ id: 1, text: null });
      }
    }
  });

  it('are not named by a key that answers leave out', async () => {
    await Seal.bulkCreate([
      { id: 'k1', name: 'a' },
      { id: 'k2', name: 'b' },
    ]);
    const { text } = await site.agent.patch('/seals?q=name==a&atomic=false').send({ size: 3 }).expect(207);
    expect(JSON.parse(text)).to.deep.equal({ items: [{ status: 200, item: { name: 'a', size: 3 } }] });
  });

  it('are named by what they have sent, also where the request may not read it', async () => {
    const refused = await site.agent
      .post('/shells')
      .send([{ id: 1, note: 'n' }, { id: 2, note: 'n' }, { id: 3 }]);
    expect([refused.status, refused.body.errors[0].pointer]).to.deep.equal([409, '/1/note']);
    expect(await Shell.count()).to.equal(0);
  });

  it('are not written where the replacer of the application refuses one', async () => {
    const { agent } = await buildApp({ models: [Bag, Pebble], logger: log }, (app) =>
      app.set('json replacer', (_name: string, value: unknown) => speak(value)),
    );
    expect((await agent.post('/pebbles').send([{ name: 'a' }, { name: 'secret' }])).status).to.equal(500);
    expect(await Pebble.count()).to.equal(0);
    expect((await agent.post('/pebbles').send(TWO)).status).to.equal(201);
  });

  it('are of the tenant of the request, also where the database would take them without one', async () => {
    expect((await site.agent.post('/bags').send([{}, {}])).status).to.equal(201);
    expect((await Bag.findAll()).map(({ tenant }) => tenant)).to.deep.equal([1, 1]);
  });

  it('[M24] refer to no record of another tenant', async () => {
    const [own, foreign] = await Bag.bulkCreate([{ tenant: 1 }, { tenant: 2 }], { returning: true });
    const both = [
      { name: 'a', bagId: own?.id },
      { name: 'b', bagId: foreign?.id },
    ];
    const refused = await post('', both);
    expect([refused.status, refused.body.errors[0].pointer]).to.deep.equal([409, '/1/bagId']);
    // A record without a reference before one of another tenant.
    expect((await post('', [{ name: 'a' }, { name: 'b', bagId: foreign?.id }])).status).to.equal(409);
    expect((await post('', TWO)).status).to.equal(201);
    const changed = await site.agent.patch('/pebbles').send(both);
    expect([changed.status, changed.body.errors[0].pointer]).to.deep.equal([409, '/1/bagId']);
    expect((await site.agent.patch('/pebbles?q=size==2').send({ bagId: foreign?.id })).status).to.equal(409);
    expect(await Pebble.count({ where: { bagId: null } as never })).to.equal(2);
  });

  it('are not tried one by one where the server has failed, which refuses none of them', async () => {
    expect((await post('', [{ name: 'a' }, { name: 'broken' }])).status).to.equal(500);
    const [tries] = await site.engine.sequelize.query('SELECT last_value::int AS tries FROM tries');
    expect(tries).to.deep.equal([{ tries: 1 }]);
    expect(log.lines.filter(({ level }) => level === 'error')).to.have.length(1);
  });
});
