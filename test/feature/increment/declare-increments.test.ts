/** The option `increment`: refused where no sum could be right, described in the document, and one statement a change. */
import { expect } from 'chai';
import { Transform } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  type Id,
  type ModelClass,
  type UpdateValues,
  updateSchema,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { buildApp, buildBoth } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY, onPath } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { attach } from '../../support/offline-models.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const NUMBERS = {
  stock: DataType.INTEGER,
  price: DataType.DECIMAL(8, 2),
  note: DataType.TEXT,
  data: DataType.JSONB,
};

describe('the option increment', () => {
  const cases: Readonly<Record<string, readonly [crud: object, problem: string]>> = {
    'is a list': [
      { increment: 'stock' },
      `increment is "stock"; use a list of attributes such as ['stock'].`,
    ],
    'names something': [{ increment: [] }, "increment is []; use a list of attributes such as ['stock']."],
    'names attributes': [
      { increment: ['stok'] },
      "increment names 'stok', which is not an attribute. Did you mean 'stock'? The attributes are id, stock, price, note, data.",
    ],
    'names each once': [{ increment: ['stock', 'stock'] }, "increment names 'stock' twice; name it once."],
    'names numbers': [
      { increment: ['note'] },
      "increment names 'note', which holds no numbers; leave it out.",
    ],
    'names no JSON': [
      { increment: ['data'] },
      "increment names 'data', which holds no numbers; leave it out.",
    ],
    'names no key': [{ increment: ['id'] }, "increment names 'id', which is part of a key; leave it out."],
    'names no address': [
      { increment: ['stock'], id: 'stock' },
      "increment names 'stock', which is part of a key; leave it out.",
    ],
    'names no scope': [
      { increment: ['stock'], scope: { stock: () => 1 } },
      "increment names 'stock', which no change may set; leave it out.",
    ],
    'names no value of the server': [
      { increment: ['stock'], set: { stock: { value: () => 1, on: 'update' } } },
      "increment names 'stock', which no change may set; leave it out.",
    ],
    'names what changes may set': [
      { increment: ['stock'], fields: { stock: { update: false } } },
      "increment names 'stock', which no change may set; leave it out.",
    ],
    'names nothing of the table': [
      { increment: ['stock'], readOnly: ['stock'] },
      "increment names 'stock', whose values the table makes; leave it out.",
    ],
  };
  for (const [name, [crud, problem]] of Object.entries(cases))
    it(name, async () => {
      const Model = attach(served('things', NUMBERS, { crud }) as never);
      expect(await configProblems(() => buildApp({ models: [Model] }))).to.deep.equal([`Things: ${problem}`]);
    });

  it('is not for attributes that clients see otherwise than the column has them', async () => {
    const column = { type: DataType.INTEGER, get: () => 1 };
    const Model = served(
      'shown',
      {
        got: column,
        put: { ...column, get: undefined as never, set: () => {} },
        made: DataType.INTEGER,
        read: DataType.INTEGER,
      },
      { crud: { increment: ['got', 'put', 'made', 'read'] } },
    );
    Transform(({ value }) => value, { toClassOnly: true })(Model.prototype, 'made');
    Transform(({ value }) => value, { toPlainOnly: true })(Model.prototype, 'read');
    const problems = await configProblems(() => buildApp({ models: [attach(Model as never)] }));
    expect(problems.map((each) => each.slice(0, each.indexOf(', so that')))).to.deep.equal([
      "Shown: increment names 'got', which has a getter or setter",
      "Shown: increment names 'put', which has a getter or setter",
      "Shown: increment names 'made', which @Type or @Transform changes",
      "Shown: increment names 'read', which @Type or @Transform changes",
    ]);
  });

  it('is not for a schema of the application', async () => {
    const Model = attach(served('own', NUMBERS, { crud: { increment: ['stock'] } }) as never) as ModelClass;
    class Own extends updateSchema(Model) {}
    const Goods = class extends crudController(Model, {
      increment: ['stock'],
      updateSchema: Own,
    } as never) {};
    const problems = await configProblems(() => buildApp({ models: [Model], controllers: [Goods] }));
    expect(problems.join()).to.include('increment needs the derived schema, and updateSchema is Own');
  });

  except(OF_MANY).it('is in the document of changes', async () => {
    const Model = attach(
      served('goods', NUMBERS, {
        crud: { increment: ['stock', 'price'], endpoints: ['create', 'update', 'updateMany'] },
      }) as never,
    ) as ModelClass;
    const { agent } = await buildApp({ models: [Model], logger: new CapturedLog() });
    const { schemas } = (await agent.get('/openapi.json')).body.components;
    for (const schema of [schemas.GoodsUpdate, schemas.GoodsChange]) {
      const [value, form] = schema.properties.stock.oneOf;
      expect(value).to.deep.equal(schemas.GoodsCreate.properties.stock);
      expect(form).to.deep.equal({
        description: 'A number that is added to the value of the record.',
        type: 'object',
        properties: { $inc: { type: 'integer', format: 'int32', minimum: -2147483648, maximum: 2147483647 } },
        required: ['$inc'],
        additionalProperties: false,
      });
      expect(schema.properties.price.oneOf[1].properties.$inc.type).to.equal('string');
      expect(schema.properties.note).to.not.have.property('oneOf');
    }
    expect(schemas.GoodsCreate.properties.stock).to.not.have.property('oneOf');
  });
});

@Crud({ increment: ['stock'], endpoints: ['update', 'updateMany'], filterAllow: ['stock'] })
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare stock: number;
}

describe('an increment', () => {
  const log = new SqlLog();
  serveTestApp(() => ({
    models: [Shelf],
    engine: { logging: log.record },
    bootstrap: { models: [] },
  }));

  beforeEach(async () => {
    await Shelf.destroy({ where: {} });
    await Shelf.bulkCreate([
      { id: 1, stock: 1 },
      { id: 2, stock: 2 },
    ] as never[]);
  });

  except(OF_MANY).it('is one statement of the fast path, of one record and of many', async () => {
    const [{ agent }] = await buildBoth({ models: [Shelf] });
    const body = { stock: { $inc: 1 } };
    for (const [path, sent] of [
      ['/shelves/1', body],
      ['/shelves', [1, 2].map((id) => ({ id, ...body }))],
      ['/shelves?q=stock>0', body],
    ] as const) {
      await agent.patch(path).send(sent);
      const { result, statements } = await log.duringRequest(async () => agent.patch(path).send(sent));
      expect(result.status).to.equal(200);
      if (onPath({ fast: true, unit: false, records: false, values: false }))
        expect(
          statements.filter((each) => !/^(?:START|COMMIT)/.test(each)),
          path,
        ).to.have.length(1);
    }
    expect((await Shelf.findAll({ order: ['id'] })).map(({ stock }) => stock)).to.deep.equal([7, 6]);
  });

  it('gives a method of the application the sum, which it may change', async () => {
    const seen: unknown[] = [];
    class Shelves extends crudController(Shelf) {
      override update(id: Id, values: UpdateValues<Shelf>, context: CrudContext<Shelf>) {
        seen.push(values.stock);
        return super.update(id, { ...values, stock: Math.max(Number(values.stock), 0) }, context);
      }
    }
    for (const { agent } of await buildBoth({ models: [Shelf], controllers: [Shelves] })) {
      const answer = await agent.patch('/shelves/1').send({ stock: { $inc: -5 } });
      expect(answer.body).to.deep.equal({ id: 1, stock: 0 });
    }
    expect(seen).to.deep.equal([-4, -5]);
  });
});
