/** Changes that add to numbers of a record, by either runner: each amount once, or a refusal that names it. */
// @runs fast
import { expect } from 'chai';
import { Min } from 'class-validator';
import type { Request } from 'express';
import { BeforeUpdate, Column, DataType, Table } from 'sequelize-typescript';
import { Crud, filter, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { ask, TwoPaths } from '../../support/two-paths.js';

const tenantOf = (request: Request) => request.get('tenant') ?? 'a';

@Crud({
  endpoints: ['read', 'list', 'create', 'update', 'updateMany', 'upsert'],
  increment: ['stock', 'few', 'views', 'price', 'weight', 'rating', 'seats', 'cost', 'exact'],
  upsert: [['code']],
  filterAllow: ['code', 'stock', 'tenant'],
  scope: { tenant: tenantOf },
  can: {
    update: (request) => request.get('role') !== 'clerk' || filter`code=like=b*`,
  },
  fields: { cost: { read: (request) => request.get('role') !== 'clerk' } },
})
@Table({ tableName: 'items', createdAt: false, updatedAt: false, version: true })
class Item extends NumberedRow {
  @Column({ type: DataType.STRING(9), allowNull: false, unique: true }) declare code: string;
  @Column({ type: DataType.TEXT, defaultValue: 'a' }) declare tenant: string;
  @Column(DataType.INTEGER) declare stock: number | null;
  @Column({ type: DataType.SMALLINT, defaultValue: 0 }) declare few: number;
  @Column({ type: DataType.BIGINT, defaultValue: 0 }) declare views: string;
  @Column({ type: DataType.DECIMAL(8, 2), defaultValue: 0 }) declare price: string;
  @Column({ type: DataType.DOUBLE, defaultValue: 0 }) declare weight: number;
  @Column({ type: DataType.REAL, defaultValue: 0 }) declare rating: number;
  @Min(0) @Column({ type: DataType.INTEGER, defaultValue: 0 }) declare seats: number;
  @Column({ type: DataType.INTEGER, defaultValue: 0 }) declare cost: number;
  @Column({ type: DataType.DECIMAL, defaultValue: 0 }) declare exact: string;
  @Column({ type: DataType.INTEGER, defaultValue: 0 }) declare plain: number;
  @Column({ type: DataType.JSONB }) declare data: unknown;
}

/** Its hook sees the sum. */
@Crud({ increment: ['count'] })
@Table({ tableName: 'counters', timestamps: false })
class Counter extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false, validate: { max: 9 } }) declare count: number;
  @Column(DataType.TEXT) declare seen: string | null;

  @BeforeUpdate
  static note(counter: Counter): void {
    counter.seen = `${typeof counter.count} ${counter.count}`;
  }
}

const ROWS = [
  { id: 1, code: 'a1', stock: 5, few: 7, views: '9007199254740993', price: '10.50', weight: 0.1, seats: 2 },
  { id: 2, code: 'a2', stock: null },
  { id: 3, code: 'b3', stock: 2_147_483_647, price: '999999.99', views: '9223372036854775807' },
  { id: 4, code: 'z4', tenant: 'z', stock: 2_147_483_647 },
];

const DOMAINS = `
  ALTER TABLE items ADD CHECK (stock >= 0);
  CREATE DOMAIN positive AS int4 CHECK (VALUE >= 0);
  ALTER TABLE items ALTER COLUMN plain TYPE positive, ALTER COLUMN cost TYPE positive;
`;

except(OF_MANY).describe('adding to a number', () => {
  const paths = forSuite(() =>
    TwoPaths.start({
      models: [Item, Counter] as ModelClass[],
      // On a busy machine a hundred clients wait too long for one connection.
      minPool: 5,
      bootstrap: { logger: new CapturedLog(), idempotency: { principal: () => 'one' } },
    }),
  );

  before(() => paths.site.engine.sequelize.query(DOMAINS));
  beforeEach(reset);

  async function reset(): Promise<void> {
    await Item.destroy({ where: {} });
    await Item.bulkCreate(ROWS as never[]);
    await Counter.destroy({ where: {} });
    await Counter.create({ id: 1, count: 5, seen: null } as never);
    await paths.site.engine.sequelize.query('DELETE FROM crud_idempotency');
  }

  const change = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const { status, body: text } = await paths.same({ method: 'PATCH', path, body, headers }, reset);
    await reset();
    return { status, body: JSON.parse(text) };
  };
  const send = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    ask(paths.fast, { method: 'PATCH', path, body, headers });
  const stocks = async () => (await Item.findAll({ order: ['id'] })).map(({ stock }) => stock);

  it('answers the sum of each type', async () => {
    const { status, body } = await change('/items/1', {
      stock: { $inc: -2 },
      few: { $inc: 3 },
      views: { $inc: '2' },
      price: { $inc: '-0.75' },
      weight: { $inc: 0.2 },
      rating: { $inc: 0.1 },
      exact: { $inc: '0.000000000000000000001' },
      seats: { $inc: -2 },
      cost: { $inc: 4 },
      code: 'new',
    });
    expect(status).to.equal(200);
    expect(body).to.include({
      stock: 3,
      few: 10,
      views: '9007199254740995',
      price: '9.75',
      weight: 0.1 + 0.2,
      rating: 0.1,
      exact: '0.000000000000000000001',
      seats: 0,
      cost: 4,
      code: 'new',
      version: 1,
    });
  });

  it('stores what it answers, beside values of the same request', async () => {
    await send('/items/1', { stock: { $inc: 4 }, plain: 3 });
    await send('/items/1', { stock: { $inc: -1 } });
    expect(await Item.findByPk(1)).to.include({ stock: 8, plain: 3, version: 2 });
  });

  it('leaves a record as it is where nothing is added', async () => {
    const { status, body } = await change('/items/1', { stock: { $inc: 0 }, price: { $inc: '0.00' } });
    expect([status, body.stock, body.version]).to.deep.equal([200, 5, 0]);
    const both = await change('/items/1', { stock: { $inc: 0 }, plain: 1 });
    expect([both.body.stock, both.body.plain, both.body.version]).to.deep.equal([5, 1, 1]);
  });

  for (const [what, path, body, pointers, code] of [
    ['a sum beyond an INTEGER', '/items/3', { stock: { $inc: 1 } }, ['/stock'], 'sum.range'],
    ['a sum beyond a SMALLINT', '/items/1', { few: { $inc: 32_767 } }, ['/few'], 'sum.range'],
    ['a sum beyond a DECIMAL', '/items/3', { price: { $inc: '0.01' } }, ['/price'], 'sum.range'],
    ['a sum beyond a BIGINT', '/items/3', { views: { $inc: '1' } }, ['/views'], 'sum.range'],
    [
      'a sum of two beyond its range',
      '/items/3',
      { stock: { $inc: 1 }, few: { $inc: 1 } },
      ['/stock', '/few'],
      'sum.range',
    ],
    ['a check of the table', '/items/1', { stock: { $inc: -6 } }, ['/stock'], 'invalid'],
    ['a sum of NULL', '/items/2', { stock: { $inc: 1 } }, ['/stock'], 'sum.null'],
    [
      'a sum of NULL and zero beside a change',
      '/items/2',
      { stock: { $inc: 0 }, plain: 9 },
      ['/stock'],
      'sum.null',
    ],
    ['a validator of the attribute', '/items/1', { seats: { $inc: -3 } }, ['/seats'], 'min'],
  ] as const) {
    it(`refuses ${what}, and writes nothing`, async () => {
      const before = await Item.findAll({ order: ['id'], raw: true });
      const { status, body: problem } = await change(path, { ...body, code: 'other' });
      expect(status, JSON.stringify(problem)).to.equal(422);
      expect(
        problem.errors.map((each: { pointer: string; code: string }) => [each.pointer, each.code]),
      ).to.deep.equal(pointers.map((pointer) => [pointer, code]));
      await send(path, { ...body, code: 'other' });
      expect(await Item.findAll({ order: ['id'], raw: true })).to.deep.equal(before);
    });
  }

  it('refuses a sum beyond its range under an Idempotency-Key, too', async () => {
    const headers = { 'Idempotency-Key': 'one' };
    const { status, body } = await change('/items/3', { price: { $inc: '0.01' } }, headers);
    expect([status, body.errors[0].pointer, body.errors[0].code]).to.deep.equal([422, '/price', 'sum.range']);
  });

  it('adds to a column whose domain holds no negative number', async () => {
    const { body } = await change('/items/1', { cost: { $inc: 5 } });
    expect(body.cost).to.equal(5);
    await Item.update({ cost: 5 }, { where: { id: [1, 2] } });
    const answer = await send('/items', [
      { id: 1, cost: { $inc: -2 } },
      { id: 2, cost: { $inc: -5 } },
    ]);
    expect(JSON.parse(answer.body).items.map(({ cost }: Item) => cost)).to.deep.equal([3, 0]);
    expect((await send('/items/1', { cost: { $inc: -4 } })).status).to.equal(422);
  });

  for (const [what, body, pointers] of [
    ['no number', { stock: { $inc: '1' } }, ['/stock/$inc']],
    ['null', { stock: { $inc: null } }, ['/stock/$inc']],
    ['a fraction for an INTEGER', { stock: { $inc: 0.5 } }, ['/stock/$inc']],
    ['a number for a BIGINT', { views: { $inc: 1 } }, ['/views/$inc']],
    ['more digits than a DECIMAL has', { price: { $inc: '0.001' } }, ['/price/$inc']],
    ['NaN for a DECIMAL', { exact: { $inc: 'NaN' } }, ['/exact/$inc']],
    ['Infinity for a DOUBLE', { weight: { $inc: 'Infinity' } }, ['/weight/$inc']],
    ['an array', { stock: [{ $inc: 1 }] }, ['/stock']],
    ['an empty object', { stock: {} }, ['/stock']],
    ['another word', { stock: { $dec: 1 } }, ['/stock']],
    ['a word beside it', { stock: { $inc: 1, $set: 2 } }, ['/stock/$set']],
    ['an attribute that is not named', { plain: { $inc: 1 } }, ['/plain']],
    ['the key', { id: { $inc: 1 } }, ['/id']],
    ['the version', { version: { $inc: 1 } }, ['/version']],
    ['the scope', { tenant: { $inc: 1 } }, ['/tenant']],
    [
      'several mistakes at once',
      { stock: { $inc: 'x' }, price: { $inc: 1 }, few: 'y' },
      ['/stock/$inc', '/price/$inc', '/few'],
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { status, body: problem } = await change('/items/1', body);
      expect(status).to.equal(422);
      expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).to.deep.equal(pointers);
    });
  }

  it('stores an amount in JSON as any other value', async () => {
    const { body } = await change('/items/1', { data: { $inc: 1 } });
    expect(body.data).to.deep.equal({ $inc: 1 });
  });

  it('refuses an amount in a create and in an upsert', async () => {
    for (const path of ['/items', '/items?on_conflict=code']) {
      const answer = await paths.same(
        { method: 'POST', path, body: { code: 'a1', stock: { $inc: 1 } } },
        reset,
      );
      expect([answer.status, JSON.parse(answer.body).errors[0].pointer]).to.deep.equal([422, '/stock']);
    }
  });

  it('adds under If-Match, once for each tag', async () => {
    const { status } = await change('/items/1', { stock: { $inc: 1 } }, { 'If-Match': '"7"' });
    expect(status).to.equal(412);
    expect((await send('/items/1', { stock: { $inc: 1 } }, { 'If-Match': '"0"' })).status).to.equal(200);
    expect((await send('/items/1', { stock: { $inc: 1 } }, { 'If-Match': '"0"' })).status).to.equal(412);
    expect((await stocks())[0]).to.equal(6);
  });

  it('adds once for an Idempotency-Key', async () => {
    for (const path of [paths.fast, paths.general]) {
      await reset();
      for (const _ of [1, 2]) {
        const headers = { 'Idempotency-Key': 'twice' };
        const { status } = await ask(path, {
          method: 'PATCH',
          path: '/items/1',
          body: { stock: { $inc: 1 }, seats: { $inc: 1 } },
          headers,
        });
        expect(status).to.equal(200);
      }
      expect(await Item.findByPk(1)).to.include({ stock: 6, seats: 3 });
    }
  });

  it('tells nothing of records outside of the access, also by a sum that would be out of range', async () => {
    const foreign = await change('/items/4', { stock: { $inc: 1 } });
    const missing = await change('/items/99', { stock: { $inc: 1 } });
    expect(foreign).to.deep.equal(missing);
    expect(foreign.status).to.equal(404);
    const refused = await change('/items/1', { stock: { $inc: 2_147_483_647 } }, { role: 'clerk' });
    expect(refused.status).to.equal(403);
    // A range would tell the value of an attribute that the request may not read.
    const unread = await change('/items/3', { cost: { $inc: 2_147_483_647 } }, { role: 'clerk' });
    expect([unread.status, unread.body.errors[0].code]).to.deep.equal([422, 'isInt']);
  });

  it('has hooks and validators of the model see the sum', async () => {
    const { status, body } = await change('/counters/1', { count: { $inc: 3 } });
    expect([status, body]).to.deep.equal([200, { id: 1, count: 8, seen: 'number 8' }]);
    const refused = await change('/counters/1', { count: { $inc: 5 } });
    expect([refused.status, refused.body.errors[0].pointer]).to.deep.equal([422, '/count']);
  });

  describe('of many records', () => {
    it('adds in an array, also beside items with other members', async () => {
      const items = [
        { id: 3, stock: { $inc: -7 }, code: 'c' },
        { id: 1, stock: { $inc: 2 }, version: 0 },
        { id: 2, few: { $inc: 1 } },
      ];
      const { status, body } = await change('/items', items);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.items.map(({ id, stock, few, version }: never) => [id, stock, few, version])).to.deep.equal(
        [
          [3, 2_147_483_640, 0, 1],
          [1, 7, 7, 1],
          [2, null, 1, 1],
        ],
      );
    });

    it('adds for one item, and sets for another', async () => {
      const { body } = await change('/items', [
        { id: 1, stock: { $inc: 2 }, seats: { $inc: 1 } },
        { id: 2, stock: 40, seats: 9 },
      ]);
      expect(body.items.map(({ stock, seats }: never) => [stock, seats])).to.deep.equal([
        [7, 3],
        [40, 9],
      ]);
    });

    for (const [what, item, pointer, code] of [
      ['NULL', { id: 2, stock: { $inc: 1 } }, '/1/stock', 'sum.null'],
      ['a range', { id: 3, stock: { $inc: 1 } }, '/1/stock', 'sum.range'],
      ['a check', { id: 1, few: { $inc: 1 }, stock: { $inc: -9 } }, '/1/stock', 'invalid'],
      ['a validator', { id: 3, seats: { $inc: -1 } }, '/1/seats', 'min'],
      ['an amount', { id: 3, stock: { $inc: true } }, '/1/stock/$inc', 'isInt'],
    ] as const) {
      it(`names the item that ${what} refuses, and writes none`, async () => {
        const other = item.id === 1 ? 3 : 1;
        const few = async () => (await Item.findByPk(other))?.few as number;
        const before = await few();
        const items = [{ id: other, few: { $inc: 1 } }, item];
        const { status, body } = await change('/items', items);
        expect([status, body.errors[0].pointer, body.errors[0].code]).to.deep.equal([422, pointer, code]);
        await send('/items', items);
        expect(await few()).to.equal(before);
        const each = await send('/items?atomic=false', items);
        expect(JSON.parse(each.body).items.map(({ status: own }: never) => own)).to.deep.equal([200, 422]);
        expect(await few()).to.equal(before + 1);
      });
    }

    it('adds to all that q finds, or to none', async () => {
      const { status, body } = await change('/items?q=code==a1', { stock: { $inc: 3 }, seats: 1 });
      expect([status, body]).to.deep.equal([200, { affected: 1 }]);
      await send('/items?q=code=in=(a1,a2)', { few: { $inc: 2 }, seats: { $inc: 1 } });
      expect((await Item.findAll({ order: ['id'] })).map(({ few, seats }) => [few, seats])).to.deep.equal([
        [9, 3],
        [2, 1],
        [0, 0],
        [0, 0],
      ]);
      for (const q of ['code=in=(a1,a2)', 'code=in=(a1,b3)']) {
        const refused = await change(`/items?${new URLSearchParams({ q })}`, { stock: { $inc: 1 } });
        expect([refused.status, refused.body.errors[0].pointer]).to.deep.equal([422, '/stock']);
      }
      // Only what is found is added to, so that no sum of another record is out of range.
      expect((await change('/items?q=stock<9', { stock: { $inc: 1 } })).body).to.deep.equal({ affected: 1 });
    });
  });

  describe('at the same time', () => {
    for (const [path, other] of [
      ['fast', 'general'],
      ['general', 'fast'],
    ] as const) {
      it(`loses no amount of a hundred clients of ${path}`, async () => {
        await Item.update({ stock: 1000, seats: 1000 }, { where: { id: [1, 2, 3] } });
        const requests = Array.from({ length: 100 }, (_, index) => {
          const amount = {
            stock: { $inc: index % 2 ? -1 : 3 },
            ...(index % 5 ? {} : { seats: { $inc: 1 } }),
          };
          const at = index % 7 === 0 ? paths[other] : paths[path];
          if (index % 10 === 1)
            return ask(at, {
              method: 'PATCH',
              path: '/items?q=code=in=(b3,a2,a1)',
              body: { stock: { $inc: -1 } },
            });
          if (index % 10 === 2)
            return ask(at, {
              method: 'PATCH',
              path: '/items',
              body: [3, 1, 2].map((id) => ({ id, ...amount })),
            });
          return ask(at, { method: 'PATCH', path: `/items/${(index % 3) + 1}`, body: amount });
        });
        const answers = await Promise.all(requests);
        expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
        let sum = 0;
        for (let index = 0; index < 100; index += 1) {
          const all = index % 10 === 1 || index % 10 === 2 ? 3 : 1;
          sum += all * (index % 2 ? -1 : 3);
        }
        const found = await Item.findAll({ where: { id: [1, 2, 3] } });
        expect(found.reduce((all, { stock }) => all + (stock as number), 0)).to.equal(3000 + sum);
        expect(found.reduce((all, { seats }) => all + seats, 0)).to.equal(3000 + 20);
      });
    }
  });
});
