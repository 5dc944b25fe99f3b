/** Rules of a model hold wherever its rows are included: conditions, attributes, and the right to read it at all. */
import { expect } from 'chai';
import express, { type Request } from 'express';
import { HttpError } from 'routing-controllers';
import { BelongsTo, BelongsToMany, Column, DataType, HasMany, Table } from 'sequelize-typescript';
import supertest from 'supertest';
import {
  ConfigError,
  Crud,
  crudRouter,
  EVERYTHING,
  filter,
  type ModelClass,
  Repository,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

/** Results of the rules, by name; a test sets some. */
const answers = new Map<string, () => unknown>();
const asked: string[] = [];
const rule = (name: string, usual: unknown) => (_request: Request) => {
  asked.push(name);
  return (answers.get(name) ?? (() => usual))() as never;
};

@Crud({
  sortAllow: ['id'],
  include: {
    owner: UNGUARDED,
    buyer: UNGUARDED,
    orders: { ...UNGUARDED, size: { default: 2, max: 5 } },
    'orders.items': { size: { default: 2, max: 3 } },
    clubs: { where: rule('clubs.where', EVERYTHING) },
    chosen: { where: rule('where', EVERYTHING) },
  },
  fields: { buyerId: { read: rule('Shop.buyerId', true) } },
} as object)
@Table({ tableName: 'shops', timestamps: false })
class Shop extends NamedRow {
  @Column(DataType.INTEGER) declare ownerId: number | null;
  @Column(DataType.INTEGER) declare buyerId: number | null;
  @BelongsTo(() => Person, { foreignKey: 'ownerId', constraints: false }) declare owner?: unknown;
  @BelongsTo(() => Person, { foreignKey: 'buyerId', constraints: false }) declare buyer?: unknown;
  @HasMany(() => Order, { foreignKey: 'shopId', constraints: false }) declare orders?: unknown;
  @HasMany(() => Shop, { foreignKey: 'name', sourceKey: 'name', constraints: false }) declare twins?: unknown;
  @HasMany(() => Order, { foreignKey: 'shopId', constraints: false }) declare chosen?: unknown;

  @BelongsToMany(() => Club, {
    through: { model: () => Membership, unique: false },
    foreignKey: 'shopId',
    otherKey: 'clubId',
    constraints: false,
  })
  declare clubs?: unknown;
}

/** Shows some shops. */
class OwnShops extends Repository<Shop> {
  override find(...[id, options]: Parameters<Repository<Shop>['find']>) {
    return super.find(id, { ...options });
  }
}

@Crud({
  can: { read: rule('Person.can.read', true), list: rule('Person.can.list', false) },
  visible: rule('Person.visible', EVERYTHING),
  fields: { salary: { read: rule('Person.salary', false) } },
} as object)
@Table({ tableName: 'people', timestamps: false })
class Person extends NamedRow {
  @Column(DataType.INTEGER) declare salary: number;
}

@Crud({
  can: { list: rule('Order.can.list', true), read: rule('Order.can.read', false) },
  visible: rule('Order.visible', EVERYTHING),
  fields: { price: { read: rule('Order.price', true) }, shopId: { read: rule('Order.shopId', true) } },
  filterAllow: ['id', 'name', 'price'],
  sortAllow: ['id', 'price'],
} as object)
@Table({ tableName: 'orders', timestamps: false })
class Order extends NamedRow {
  @Column(DataType.INTEGER) declare shopId: number;
  @Column(DataType.INTEGER) declare price: number;
  @Column(DataType.TEXT) declare tenant: string;
  @HasMany(() => Item, { foreignKey: 'orderId', constraints: false }) declare items?: unknown;
}

/** Not served, and guarded all the same. */
@Crud({
  visible: rule('Item.visible', EVERYTHING),
  fields: { cost: { read: rule('Item.cost', false) } },
  filterAllow: ['name', 'cost'],
  sortAllow: ['id', 'cost'],
} as object)
@Table({ tableName: 'items', timestamps: false })
class Item extends NamedRow {
  @Column(DataType.INTEGER) declare orderId: number;
  @Column(DataType.INTEGER) declare cost: number;
}

@Table({ tableName: 'clubs', timestamps: false })
class Club extends NamedRow {
  @Column(DataType.TEXT) declare tenant: string;
}

@Crud({ visible: rule('Membership.visible', EVERYTHING) } as object)
@Table({ tableName: 'memberships', timestamps: false })
class Membership extends NamedRow {
  @Column(DataType.INTEGER) declare shopId: number;
  @Column(DataType.INTEGER) declare clubId: number;
  @Column(DataType.TEXT) declare tenant: string;
}

const SERVED = [Shop, Person, Order] as unknown as ModelClass[];

describe('[R15] including what a request may see', () => {
  const log = new CapturedLog();
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: SERVED,
    bootstrap: { logger: log, scope: { tenant: rule('tenant', 'A') } },
    engine: { models: [...SERVED, Item, Club, Membership] as never, logging: sql.record },
  }));

  before(() =>
    site.engine.sequelize.query(`
      INSERT INTO people VALUES (1, 'Ann', 100), (2, 'Bob', 200);
      INSERT INTO shops VALUES (1, 'Bread', 1, 2), (2, 'Fish', 2, 1), (3, 'Void', 99, NULL);
      INSERT INTO orders VALUES
        (1, 'a', 1, 10, 'A'), (2, 'b', 1, 20, 'A'), (3, 'c', 1, 30, 'B'), (4, 'd', 2, 40, 'B'), (5, 'e', 2, 50, 'A');
      INSERT INTO items VALUES (1, 'x', 1, 7), (2, 'y', 1, 8), (3, 'z', 2, 9);
      INSERT INTO clubs VALUES (1, 'Chess', 'A'), (2, 'Go', 'B'), (3, 'Darts', 'A');
      INSERT INTO memberships VALUES
        (1, 'm', 1, 1, 'A'), (2, 'n', 1, 2, 'A'), (3, 'o', 1, 3, 'B'), (4, 'p', 2, 3, 'A');`),
  );

  beforeEach(() => {
    answers.clear();
    asked.length = 0;
    log.clear();
  });

  const get = async (path: string, status = 200) => {
    const { status: found, body, text } = await site.agent.get(path);
    expect(found, `${path}: ${text}${log.text}`).to.equal(status);
    return body;
  };
  const names = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name).join('');

  it('gives the rows that the rules of their models let through, at each level', async () => {
    const { items } = await get('/shops?include=orders.items,clubs,owner');
    expect(items.map(({ orders }: { orders: never }) => names(orders))).to.deep.equal(['ab', 'e', '']);
    // Orders of others lie behind those that are shown.
    expect(items[0].orders.has_next).to.equal(false);
    expect(items.map(({ clubs }: { clubs: never }) => names(clubs))).to.deep.equal(['Chess', 'Darts', '']);
    expect(items[0].orders.items[0].items).to.deep.equal({
      items: [
        { id: 1, name: 'x', orderId: 1 },
        { id: 2, name: 'y', orderId: 1 },
      ],
      has_next: false,
    });
    answers.set('Order.visible', () => Promise.resolve(filter`price>15`));
    answers.set('Item.visible', () => filter`name!=${'z'}`);
    answers.set('Membership.visible', () => filter`name==p`);
    const { items: fewer } = await get('/shops?include=orders.items,clubs');
    expect(fewer.map(({ orders }: { orders: never }) => names(orders))).to.deep.equal(['b', 'e', '']);
    expect(fewer[0].orders.items[0].items.items).to.deep.equal([]);
    expect(fewer.map(({ clubs }: { clubs: never }) => names(clubs))).to.deep.equal(['', 'Darts', '']);
  });

  it('[R14] answers alike for a record that may not be seen, and for none', async () => {
    answers.set('Person.visible', () => filter`id!=2`);
    const { items } = await get('/shops?include=owner&fields=name');
    expect(items).to.deep.equal([
      { name: 'Bread', owner: { id: 1, name: 'Ann' } },
      { name: 'Fish', owner: null },
      { name: 'Void', owner: null },
    ]);
  });

  it('[R16] tells nothing of rows that may not be seen by has_next, filters or sorts', async () => {
    for (const query of ['size=1&orders.size=2', 'orders.q=price>10&orders.size=1', 'orders.sort=-price']) {
      const page = `/shops?include=orders&${query}`;
      const before = (await site.agent.get(page)).text;
      await site.engine.sequelize.query(`UPDATE orders SET price = price + 1000 WHERE tenant = 'B'`);
      expect((await site.agent.get(page)).text).to.equal(before);
      await site.engine.sequelize.query(`UPDATE orders SET price = price - 1000 WHERE tenant = 'B'`);
    }
  });

  it('asks for the rules of what is included, each once', async () => {
    await get('/shops');
    expect(asked).to.deep.equal(['Shop.buyerId']);
    asked.length = 0;
    await get('/shops/1?include=owner,buyer');
    expect([...asked].sort()).to.deep.equal([
      'Person.can.read',
      'Person.salary',
      'Person.visible',
      'Shop.buyerId',
    ]);
    asked.length = 0;
    await get('/shops?include=orders.items,clubs,chosen');
    expect([...asked].sort()).to.deep.equal(
      [
        ...['Shop.buyerId', 'where', 'clubs.where', 'Membership.visible', 'Item.cost', 'Item.visible'],
        ...['Order.can.list', 'Order.price', 'Order.shopId', 'Order.visible'],
        ...['tenant', 'tenant', 'tenant'],
      ].sort(),
    );
  });

  it('answers with 403 before it reads anything, where a model may not be read, or a rule gives nothing', async () => {
    const REFUSALS: readonly (readonly [include: string, name: string, answer: unknown])[] = [
      ['owner', 'Person.can.read', false],
      ['owner', 'Person.can.read', undefined],
      ['owner', 'Person.can.read', 'yes'],
      ['owner', 'Person.visible', null],
      ['orders', 'Order.can.list', false],
      ['orders', 'Order.can.list', Promise.resolve(false)],
      ['orders', 'Order.visible', undefined],
      ['orders', 'tenant', undefined],
      ['orders.items', 'Item.visible', null],
      ['clubs', 'Membership.visible', undefined],
      ['clubs', 'tenant', Promise.resolve(null)],
      ['chosen', 'where', undefined],
      ['chosen', 'where', null],
      ['chosen', 'where', Promise.resolve(undefined)],
    ];
    for (const [include, name, answer] of REFUSALS) {
      answers.clear();
      answers.set(name, () => answer);
      for (const path of ['/shops', '/shops/1']) {
        const { result, statements } = await sql.duringRequest(() => get(`${path}?include=${include}`, 403));
        expect(JSON.stringify(result)).to.not.include('shops');
        expect(statements, name).to.deep.equal([]);
        await get(path);
      }
    }
  });

  it('answers with what a rule throws, or gives that is no answer', async () => {
    for (const [include, name] of [
      ['owner', 'Person.can.read'],
      ['orders', 'Order.visible'],
      ['orders.items', 'Item.visible'],
      ['clubs', 'tenant'],
      ['chosen', 'where'],
      ['owner', 'Person.salary'],
    ] as const) {
      for (const [status, answer] of [
        [418, () => Promise.reject(new HttpError(418, 'Tea'))],
        [500, () => Promise.reject(new Error('the secret reason'))],
        [
          500,
          () => {
            throw new TypeError('the secret reason');
          },
        ],
      ] as const) {
        answers.set(name, answer);
        for (const path of ['/shops', '/shops/1']) {
          expect(JSON.stringify(await get(`${path}?include=${include}`, status))).to.not.include('secret');
        }
      }
      answers.clear();
    }
    for (const [answer, status] of [
      [undefined, 403],
      [0, 500],
    ] as const) {
      // A rejection that comes after the refusal is handled, too; otherwise it would end the process.
      answers.set('clubs.where', async () => {
        await Promise.resolve();
        throw new HttpError(418, 'Tea');
      });
      answers.set('Membership.visible', () => answer);
      await get('/shops?include=clubs', status);
      answers.clear();
    }
    for (const answer of [true, {}, 'id==1', [], 0]) {
      answers.set('where', () => answer);
      await get('/shops?include=chosen', 500);
    }
  });

  it('gives the rows that the relation lets through, beside the rules of their model', async () => {
    answers.set('where', () => filter`price>=20`);
    const { items } = await get('/shops?include=chosen,orders');
    expect(items.map(({ chosen }: { chosen: never }) => names(chosen))).to.deep.equal(['b', 'e', '']);
    expect(names(items[0].orders)).to.equal('ab');
    answers.set('where', () => filter`tenant==B`);
    const { items: none } = await get('/shops?include=chosen');
    expect(none.map(({ chosen }: { chosen: never }) => names(chosen))).to.deep.equal(['', '', '']);
  });

  it('knows no attribute that may not be read, in answers and in parameters of the relation', async () => {
    answers.set('Order.price', () => Promise.resolve(false));
    const { orders } = await get('/shops/1?include=orders.items');
    expect(orders.items[0]).to.have.all.keys('id', 'name', 'shopId', 'tenant', 'items');
    expect(orders.items[0].items.items[0]).to.have.all.keys('id', 'name', 'orderId');
    for (const [include, parameter, hidden] of [
      ['orders', 'orders.fields', 'price'],
      ['orders', 'orders.sort', '-price'],
      ['orders', 'orders.q', 'price>5'],
      ['orders.items', 'orders.items.fields', 'cost'],
      ['orders.items', 'orders.items.sort', 'cost'],
      ['orders.items', 'orders.items.q', 'cost==7'],
      ['owner', 'owner.fields', 'salary'],
    ] as const) {
      const name = /[a-z]+/.exec(hidden)?.[0] ?? '';
      const refusals = [];
      for (const each of [name, name.replace(/./, 'q')]) {
        const value = encodeURIComponent(hidden.replace(name, each));
        const { status, text } = await site.agent.get(`/shops/1?include=${include}&${parameter}=${value}`);
        refusals.push([status, text.replaceAll(each, '?')]);
      }
      expect(refusals[0], parameter).to.deep.equal(refusals[1]);
      expect(refusals[0]?.[0]).to.equal(400);
    }
    answers.set('Order.price', () => true);
    expect((await get('/shops/1?include=orders&orders.sort=-price')).orders.items[0].price).to.equal(20);
  });

  it('knows no relation whose key may not be read: it would tell the key', async () => {
    const refusal = async (query: string, name: string) => {
      const { status, text } = await site.agent.get(`/shops?${query}`);
      return [status, text.replaceAll(name, '?')];
    };
    answers.set('Shop.buyerId', () => false);
    expect(await refusal('include=buyer', 'buyer')).to.deep.equal(await refusal('include=xxxxx', 'xxxxx'));
    const { errors } = await get('/shops?include=owner,buyer', 400);
    expect(errors).to.deep.equal([
      {
        parameter: 'include',
        code: 'include.unknown',
        detail: "Cannot include 'buyer'. The relations are owner, orders, orders.items, clubs, chosen.",
        allowed: ['owner', 'orders', 'orders.items', 'clubs', 'chosen'],
      },
    ]);
    await get('/shops?include=owner');
    answers.set('Order.shopId', () => Promise.resolve(false));
    const { errors: behind } = await get('/shops/1?include=orders.items', 400);
    expect(behind.map(({ detail }: { detail: string }) => detail)).to.deep.equal([
      "Cannot include 'orders'. The relations are owner, clubs, chosen.",
    ]);
  });

  it('holds in a router that is mounted by itself', async () => {
    const include = { clubs: true, chosen: { where: rule('where', EVERYTHING) } } as const;
    const agent = supertest(express().use('/shops', crudRouter(Shop, { include, fields: {} })));
    answers.set('Membership.visible', () => filter`name==${'m'}`);
    answers.set('Order.visible', () => filter`price>${15}`);
    answers.set('Order.price', () => false);
    const { body } = await agent.get('/shops?include=clubs,chosen').expect(200);
    expect(body.items.map(({ clubs }: { clubs: never }) => names(clubs))).to.deep.equal(['Chess', '', '']);
    expect(body.items.map(({ chosen }: { chosen: never }) => names(chosen))).to.deep.equal(['bc', 'de', '']);
    expect(JSON.stringify(body)).to.not.include('price');
    answers.set('Order.can.list', () => false);
    answers.set('Order.visible', () => undefined);
    await agent.get('/shops?include=chosen').expect(403);
    const guarded = () => crudRouter(new OwnShops(Shop), { include: { twins: true } });
    expect(guarded).to.throw(ConfigError, 'because it has a repository of its own; give it where');
  });

  it('refuses at start what nobody may read without a rule of its own resource', () => {
    const unguarded = () => crudRouter(Shop, { include: { owner: true }, fields: {} });
    expect(unguarded).to.throw(ConfigError, 'because it has rules in can; give it where');
  });
});
