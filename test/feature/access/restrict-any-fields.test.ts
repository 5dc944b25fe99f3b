/** Any model with any rules of reading: an answer is the whole one without the attributes that the request may not read, byte for byte. */
// @runs fast
import { expect } from 'chai';
import { Exclude, Transform } from 'class-transformer';
import type { Request } from 'express';
import fc from 'fast-check';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, crudController, type FieldRules, type ModelClass } from '../../../src/index.js';
import { forSuite } from '../../support/for-suite.js';
import { passingController } from '../../support/passing-controllers.js';
import { ask as askOne, TwoPaths, type WholeAnswer, type WholeRequest } from '../../support/two-paths.js';

/** Kinds of attributes, each with a value that differs from those of the others. */
const KINDS = {
  text: { type: DataType.TEXT, value: (name: string) => `secret of ${name}` },
  getter: { type: DataType.TEXT, value: (name: string) => `secret of ${name}` },
  transform: { type: DataType.TEXT, value: (name: string) => `secret of ${name}` },
  integer: { type: DataType.INTEGER, value: () => 12345 },
  bigint: { type: DataType.BIGINT, value: () => '9007199254740993' },
  decimal: { type: DataType.DECIMAL(10, 2), value: () => '12.50' },
  boolean: { type: DataType.BOOLEAN, value: () => true },
  date: { type: DataType.DATE, value: () => '2026-01-31T08:00:00.000Z' },
  json: { type: DataType.JSONB, value: (name: string) => ({ deep: [`secret of ${name}`, null] }) },
  array: { type: DataType.ARRAY(DataType.TEXT), value: (name: string) => [`secret of ${name}`] },
} as const;
type Kind = keyof typeof KINDS;

/** Properties of a random model. */
interface Shape {
  readonly kinds: readonly Kind[];
  readonly pagination: 'offset' | 'cursor';
  readonly isOverridden: boolean;
  /** True where no answer has the primary key. */
  readonly hidesKey: boolean;
  /** True where rules return promises. */
  readonly isLater: boolean;
}

const anyShape: fc.Arbitrary<Shape> = fc.record({
  kinds: fc.array(fc.constantFrom(...(Object.keys(KINDS) as Kind[])), { minLength: 2, maxLength: 6 }),
  pagination: fc.constantFrom('offset', 'cursor'),
  isOverridden: fc.boolean(),
  hidesKey: fc.boolean(),
  isLater: fc.boolean(),
});

/** Columns that have an order and are compared. */
const COMPARED: readonly Kind[] = ['text', 'integer', 'bigint', 'decimal', 'boolean', 'date'];
const EVERYTHING_READ = '*';
const SEED = Math.floor(Math.random() * 2 ** 31);
const SHAPES = fc.sample(anyShape, { numRuns: 5, seed: SEED });

/** A role is a list of readable attributes. */
function mayRead(name: string, isLater: boolean): FieldRules {
  const rule = (request: Request): boolean => {
    const may = request.get('may') ?? '';
    return may === EVERYTHING_READ || may.split(' ').includes(name);
  };
  return { read: isLater ? async (request: Request) => rule(request) : rule };
}

function attributeNames({ kinds }: Shape): readonly string[] {
  return kinds.map((kind, index) => `${kind}${index}`);
}

/** Makes a model of a shape. */
function makeModel(shape: Shape, index: number): ModelClass {
  const names = attributeNames(shape);
  const compared = names.filter((_, at) => COMPARED.includes(shape.kinds[at] as Kind));
  const holder = { [`Any${index}`]: class extends Model {} };
  const model = holder[`Any${index}`] as unknown as ModelClass;
  const { prototype } = model;
  Column(DataType.INTEGER)(prototype, 'id');
  AutoIncrement(prototype, 'id');
  PrimaryKey(prototype, 'id');
  if (shape.hidesKey) Exclude({ toPlainOnly: true })(prototype, 'id');
  for (const [at, name] of names.entries()) {
    const kind = shape.kinds[at] as Kind;
    const loud = {
      get(this: Model) {
        return `${this.getDataValue(name)}!`;
      },
    };
    Column({ type: KINDS[kind].type, ...(kind === 'getter' ? loud : {}) })(prototype, name);
    if (kind === 'transform') Transform(({ value }) => `${value}!`, { toPlainOnly: true })(prototype, name);
  }
  Table({ tableName: `any_${index}`, timestamps: false })(model);
  Crud({
    prefix: `/any${index}`,
    pagination: shape.pagination,
    filterAllow: compared,
    sortAllow: compared,
    fields: Object.fromEntries(names.map((name) => [name, mayRead(name, shape.isLater)])),
  } as object)(model);
  return model;
}

/** A request, and the attributes that it may read. */
interface Asked {
  readonly index: number;
  readonly route: 'list' | 'read' | 'create' | 'update';
  /** Positions, of any number of attributes. */
  readonly may: readonly number[];
  readonly chosen: readonly number[] | null;
}

const positions = fc.uniqueArray(fc.nat({ max: 5 }), { maxLength: 6 });
const anyRequest: fc.Arbitrary<Asked> = fc.record({
  index: fc.nat({ max: SHAPES.length - 1 }),
  route: fc.constantFrom('list', 'list', 'read', 'create', 'update'),
  may: positions,
  chosen: fc.option(positions),
});

const isLocation = (line: string) => line.startsWith('Location:');

/** The same answer without some properties of its records, which are in the order of the model. */
function without(text: string, shown: readonly string[]): string {
  const body = JSON.parse(text);
  const strip = (record: object) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => shown.includes(name)));
  return JSON.stringify(Array.isArray(body.items) ? { ...body, items: body.items.map(strip) } : strip(body));
}

describe(`models with any rules of reading (seed ${SEED})`, () => {
  const models = SHAPES.map(makeModel);
  const paths = forSuite(() =>
    TwoPaths.start({
      models,
      bootstrap: {
        controllers: models
          .filter((_, index) => SHAPES[index]?.isOverridden)
          .map((model) => passingController(crudController(model))),
      },
    }),
  );

  before(async () => {
    for (const [index, model] of models.entries()) {
      await model.bulkCreate([1, 2, 3].map(() => valuesOf(index)));
    }
  });

  function valuesOf(index: number): Record<string, unknown> {
    const shape = SHAPES[index] as Shape;
    const value = (name: string, at: number) => KINDS[shape.kinds[at] as Kind].value(name);
    return Object.fromEntries(attributeNames(shape).map((name, at) => [name, value(name, at)]));
  }

  /** Sends a request on all paths, each with the same rows. */
  async function ask(index: number, wanted: WholeRequest, may: string): Promise<WholeAnswer> {
    const undo = async () => {
      if (wanted.method !== 'POST') return;
      const table = `any_${index}`;
      await paths.site.engine.sequelize.query(
        `DELETE FROM ${table} WHERE id > 3; SELECT setval('${table}_id_seq', 4, false)`,
      );
    };
    await undo();
    return paths.same({ ...wanted, headers: { may } }, undo);
  }

  it('are answered without what the request may not read, and as they are beside', () =>
    fc.assert(
      fc.asyncProperty(anyRequest, async ({ index, route, may, chosen }) => {
        const shape = SHAPES[index] as Shape;
        const names = attributeNames(shape);
        const readable = [...(shape.hidesKey ? [] : ['id']), ...names.filter((_, at) => may.includes(at))];
        const fields = (chosen ?? []).flatMap((at) => readable[at] ?? []);
        const query = route === 'read' || route === 'list' ? fields : [];
        const path = `/any${index}${route === 'list' || route === 'create' ? '' : '/1'}`;
        const wanted: WholeRequest = {
          method: { list: 'GET', read: 'GET', create: 'POST', update: 'PATCH' }[route],
          path: query.length > 0 ? `${path}?fields=${query}` : path,
          ...(route === 'create' || route === 'update' ? { body: valuesOf(index) } : {}),
        };
        const mine = await ask(index, wanted, readable.join(' '));
        const whole = await ask(index, wanted, EVERYTHING_READ);
        const shown = query.length > 0 ? query : readable;
        expect(mine.body).to.equal(without(whole.body, shown));
        expect(mine.headers.filter(isLocation)).to.deep.equal(whole.headers.filter(isLocation));
        for (const hidden of names.filter((name) => !readable.includes(name))) {
          expect(mine.body).not.to.contain(hidden);
          await expectUnknown(index, hidden, readable);
        }
      }),
      { numRuns: 20, seed: SEED },
    ));

  /** An attribute that the request may not read is none to it. */
  async function expectUnknown(index: number, hidden: string, readable: readonly string[]): Promise<void> {
    const none = 'x'.repeat(hidden.length);
    for (const query of ['fields=', 'sort=', 'sort=-', 'q=name==1,']) {
      const path = `/any${index}?${query}`;
      const suffix = query.startsWith('q') ? '==1' : '';
      const headers = { may: readable.join(' ') };
      const refused = await askOne(paths.fast, { path: `${path}${hidden}${suffix}`, headers });
      const unknown = await askOne(paths.fast, { path: `${path}${none}${suffix}`, headers });
      expect(refused.status).to.equal(400);
      const [hint = ''] = / Did you mean '\w+'\?/.exec(refused.body) ?? [];
      expect(hint).not.to.contain(`'${hidden}'`);
      expect(refused.body.replaceAll(hint, '')).to.equal(unknown.body.replaceAll(none, hidden));
    }
  }
});
