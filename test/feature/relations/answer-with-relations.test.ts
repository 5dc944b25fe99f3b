/** Records inside answers, however they got there: each through its own read schema, and nothing of Sequelize's with it. */
import { expect } from 'chai';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import type { Response } from 'express';
import fc from 'fast-check';
import {
  type Action,
  Get,
  Interceptor,
  type InterceptorInterface,
  JsonController,
  Param,
  Res,
} from 'routing-controllers';
import {
  BelongsTo,
  Column,
  DataType,
  DefaultScope,
  ForeignKey,
  HasMany,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  type Class,
  Crud,
  type CrudContext,
  crudController,
  type ReadQuery,
  readSchema,
} from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

const SECRET = 'sEcReT';
/** Private state of a record of Sequelize, and the secret. */
const INTERNAL = /dataValues|_previousDataValues|_options|_changed|uniqno|isNewRecord|passwordHash|sEcReT/;

@Crud()
@Table({ tableName: 'owners', timestamps: false })
class Owner extends KeyedRow {
  @Transform(({ value }) => `${value}!`) @Column(DataType.STRING) declare name: string;
  @Column(DataType.BLOB) declare photo: Buffer | null;
  @Exclude() @Column(DataType.STRING) declare passwordHash: string;
  @HasMany(() => Pet) declare pets?: Pet[];
}

/** Nobody serves it, and it has no single key. */
@Table({ tableName: 'visits', timestamps: false })
class Visit extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare doctor: number;
  @PrimaryKey @ForeignKey(() => Pet) @Column(DataType.INTEGER) declare petId: number;
  @Column(DataType.BIGINT) declare price: string;
  @Exclude() @Column(DataType.STRING) declare passwordHash: string;
}

/** A model without a resource; its hidden attributes are hidden on the class. */
@Exclude()
@Table({ tableName: 'chips', timestamps: false })
class Chip extends Model {
  @Expose() @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  @Column(DataType.STRING) declare passwordHash: string;
}

@DefaultScope(() => ({ include: [Owner, Visit] }))
@Crud()
@Table({ tableName: 'pets', timestamps: false })
class Pet extends KeyedRow {
  @ForeignKey(() => Owner) @Column(DataType.INTEGER) declare ownerId: number;
  @Column(DataType.JSONB) declare extra: unknown;

  @Column(DataType.VIRTUAL)
  get keeper(): unknown {
    return { who: this.owner };
  }

  @BelongsTo(() => Owner) declare owner?: Owner;
  @HasMany(() => Visit) declare visits?: Visit[];
}

class OwnerCard {
  @Expose() declare id: number;
  @Expose() declare name: string;
  @Expose() declare passwordHash: string;
}

class OwnerLabel {
  @Expose() declare id: number;

  @Expose()
  get label(): string {
    return `#${this.id}`;
  }
}

@Crud({ readSchema: nameOnly() })
@Table({ tableName: 'keepers', timestamps: false })
class Keeper extends Model {
  @Column(DataType.STRING) declare name: string;
  @Column(DataType.STRING) declare passwordHash: string;
}

function nameOnly(): Class {
  class KeeperView {
    @Expose() declare name: string;
  }
  return KeeperView;
}

class Box {
  @Expose() readonly content: unknown;
  constructor(content: unknown) {
    this.content = content;
  }
}

class WithGetter {
  @Expose() get owner(): unknown {
    return hidden(2);
  }
}

class SameBox extends Box {
  toJSON(): this {
    return this;
  }
}

const hidden = (id: number): Owner =>
  Owner.build({ id, name: 'x', passwordHash: SECRET }, { isNewRecord: false, raw: true });

@Interceptor()
class AddOwner implements InterceptorInterface {
  intercept(_action: Action, result: object): object {
    return { ...result, added: [hidden(9)] };
  }
}

/** Results of routes, by the end of their path. */
const BOXES: Readonly<Record<string, () => unknown>> = {
  box: () => new Box(hidden(2)),
  json: () => new Box({ toJSON: () => ({ json: [hidden(2)] }) }),
  same: () => new Box(new SameBox(hidden(2))),
  getter: () => new WithGetter(),
  unscoped: () => new Box(Chip.unscoped().build({ id: 3, passwordHash: SECRET })),
  keyless: () => Visit.findAll(),
  torn: () => ({ list: [{ ...hidden(2) }] }),
  elsewhere: () => Keeper.build({ name: 'x', passwordHash: SECRET }),
};

@JsonController('/boxes')
class Boxes {
  @Get('/written')
  written(@Res() response: Response): object {
    return response.json(new Box(hidden(2)));
  }

  @Get('/:name')
  box(@Param('name') name: string): unknown {
    return BOXES[name]?.();
  }
}

/** Any structure with records in it. */
const { any: anyResult } = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(null, 1, 'text', true),
    fc.constantFrom('owner', 'visit', 'chip', 'pet').map(buildRecord),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'owner', 'constructor', 'toJSON', '__proto__'), tie('any')),
    tie('any').map((content) => new Box(content)),
    tie('any').map((content) => new Set([content])),
    tie('any').map((content) => new Map([['key', content]])),
    tie('any').map((content) => Promise.resolve(content)),
    tie('any').map((content) => ({ toJSON: () => content })),
    tie('any').map((content) => new SameBox(content)),
    tie('any').map((content) => ({
      get owner() {
        return content;
      },
    })),
    tie('any').map((content) => Pet.build({ id: 1, extra: content })),
  ),
}));

function buildRecord(kind: string): Model {
  switch (kind) {
    case 'owner':
      return hidden(1);
    case 'visit':
      return Visit.build({ doctor: 1, petId: 2, passwordHash: SECRET });
    case 'chip':
      return Chip.unscoped().build({ id: 1, passwordHash: SECRET });
    default:
      return Pet.build({ id: 1, owner: { id: 2, name: 'x', passwordHash: SECRET } }, { include: [Owner] });
  }
}

const OWNER = { id: 1, name: 'Ann!', photo: 'AQI=' };
const PET = { id: 1, ownerId: 1, extra: { a: 1 }, keeper: { who: OWNER } };

describe('answering with relations', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({
    models: [Owner, Chip, Pet, Visit, Keeper],
    bootstrap: { models: [Owner, Pet], logger },
  }));

  const serve = async (schema: Class) => {
    class Pets extends crudController(Pet, { readSchema: schema }) {}
    const { agent } = await buildApp({ models: [Pet, Owner], controllers: [Pets], logger });
    return agent;
  };
  /** The answers of all routes that show the pet, which must agree. */
  const petThrough = async (schema: Class): Promise<Record<string, unknown>> => {
    const agent = await serve(schema);
    const [read, list, update] = [
      await agent.get('/pets/1'),
      await agent.get('/pets'),
      await agent.patch('/pets/1').send({}),
    ];
    for (const { text, status } of [read, list, update]) {
      expect(text).to.not.match(INTERNAL);
      expect(status).to.equal(200);
    }
    expect(list.body.items).to.deep.equal([read.body]);
    return read.body;
  };

  before(async () => {
    await Owner.create({ id: 1, name: 'Ann', photo: Buffer.from([1, 2]), passwordHash: SECRET });
    await Pet.create({ id: 1, ownerId: 1, extra: { a: 1 } });
    await Visit.create({ doctor: 5, petId: 1, price: '7', passwordHash: SECRET });
  });

  describe('in a read schema', () => {
    it('shows a relation through the schema of its own model, also where @Type names the model', async () => {
      class PetView {
        @Expose() declare owner: object;
        @Expose() declare visits: object[];
      }
      class TypedView {
        @Expose() @Type(() => Owner) declare owner: Owner;
        @Expose() @Type(() => Visit) declare visits: Visit[];
      }
      const shown = { owner: OWNER, visits: [{ doctor: 5, petId: 1, price: '7' }] };
      for (const schema of [PetView, TypedView]) expect(await petThrough(schema)).to.deep.equal(shown);
    });

    it('shows no more than that through another class', async () => {
      class PetView {
        @Expose() @Type(() => OwnerCard) declare owner: OwnerCard;
      }
      const { owner } = await petThrough(PetView);
      expect(owner).to.include({ id: 1, name: 'Ann!' });
    });

    it('transforms once where the class is the read schema of the model, or extends it', async () => {
      class Extended extends readSchema(Owner) {
        @Expose()
        get label(): string {
          return `#${(this as unknown as OwnerCard).id}`;
        }
      }
      class PetView {
        @Expose() @Type(() => readSchema(Owner)) declare owner: object;
      }
      class ExtendedView {
        @Expose() @Type(() => Extended) declare owner: object;
      }
      expect(await petThrough(PetView)).to.deep.equal({ owner: OWNER });
      expect(await petThrough(ExtendedView)).to.deep.equal({ owner: { ...OWNER, label: '#1' } });
    });

    it('gives getters of the class an instance of the class that @Type names', async () => {
      class PetView {
        @Expose() @Type(() => OwnerLabel) declare owner: OwnerLabel;
        @Expose() get label(): string {
          return this.owner.label;
        }
      }
      expect(await petThrough(PetView)).to.deep.include({ label: '#1' });
    });

    it('shows what getters and @Transforms bring up', async () => {
      class PetView {
        @Expose() declare owner: object;
        @Expose() declare keeper: object;
        @Expose() @Transform(({ obj }) => [obj.owner]) declare ownerId: unknown;
        @Expose() @Transform(({ obj }) => obj.owner, { toClassOnly: true }) declare id: unknown;
        @Expose() @Transform(() => new Map([['o', hidden(2)]])) declare extra: unknown;
        @Expose() get boxed(): unknown {
          return new Box(new Set([hidden(3)]));
        }
      }
      expect(await petThrough(PetView)).to.deep.equal({
        owner: OWNER,
        keeper: { who: OWNER },
        ownerId: [OWNER],
        id: OWNER,
        extra: { o: { id: 2, name: 'x!' } },
        boxed: { content: [{ id: 3, name: 'x!' }] },
      });
    });

    it('gives plain objects for a model the form of its records', async () => {
      class PetView {
        @Expose() @Type(() => Owner) declare owner: object;
      }
      class Pets extends crudController(Pet, { readSchema: PetView }) {
        override async read(): Promise<Pet> {
          return { owner: { id: 2, name: 'x', passwordHash: SECRET } } as unknown as Pet;
        }
      }
      const { agent } = await buildApp({ models: [Pet], controllers: [Pets], logger });
      expectJson(await agent.get('/pets/1'), 200, { owner: { id: 2, name: 'x!' } });
    });

    it('fails where a record is inside itself', async () => {
      class PetView {
        @Expose() declare owner: object;
      }
      class OwnerView {
        @Expose() declare pets: object[];
      }
      class Pets extends crudController(Pet, { readSchema: PetView }) {
        override async read(id: never, query: ReadQuery, context: CrudContext<Pet>): Promise<Pet> {
          const pet = await super.read(id, query, context);
          if (pet.owner) pet.owner.dataValues['pets'] = [pet];
          return pet;
        }
      }
      class Owners extends crudController(Owner, { readSchema: OwnerView }) {}
      logger.clear();
      const { agent } = await buildApp({ models: [Pet, Owner], controllers: [Pets, Owners], logger });
      expect((await agent.get('/pets/1')).status).to.equal(500);
      expect(logger.text).to.contain('of an answer is inside itself');
    });
  });

  describe('in the derived schema', () => {
    it('leaves relations out, and shows what virtual attributes give', async () => {
      expectJson(await site.agent.get('/pets/1'), 200, PET);
    });

    it('shows records wherever an override puts them', async () => {
      class Pets extends crudController(Pet) {
        override async read(): Promise<Pet> {
          return { id: hidden(2), extra: { deep: [hidden(3)] }, ownerId: [[hidden(4)]] } as unknown as Pet;
        }
      }
      const { agent } = await buildApp({ models: [Pet], controllers: [Pets], logger });
      expectJson(await agent.get('/pets/1'), 200, {
        id: { id: 2, name: 'x!' },
        ownerId: [[{ id: 4, name: 'x!' }]],
        extra: { deep: [{ id: 3, name: 'x!' }] },
      });
    });
  });

  describe('in what is not generated', () => {
    it('shows what an interceptor puts into an answer', async () => {
      const { agent } = await buildApp({ models: [Pet], logger, routing: { interceptors: [AddOwner] } });
      expectJson(await agent.get('/pets/1'), 200, {
        id: 1,
        ownerId: 1,
        extra: { a: 1 },
        keeper: { who: { ...OWNER } },
        added: [{ id: 9, name: 'x!' }],
      });
    });

    for (const classTransformer of [true, false]) {
      it(`shows what is in objects of any class, ${classTransformer ? 'with' : 'without'} class-transformer`, async () => {
        const { agent } = await buildApp({
          models: [Owner],
          controllers: [Boxes],
          logger,
          routing: { classTransformer },
        });
        const shown = { id: 2, name: 'x!' };
        expectJson(await agent.get('/boxes/box'), 200, { content: shown });
        expectJson(await agent.get('/boxes/json'), 200, { content: { json: [shown] } });
        expectJson(await agent.get('/boxes/same'), 200, { content: { content: shown } });
        expectJson(await agent.get('/boxes/unscoped'), 200, { content: { id: 3 } });
        expectJson(await agent.get('/boxes/elsewhere'), 200, { name: 'x' });
        expectJson(await agent.get('/boxes/keyless'), 200, [{ doctor: 5, petId: 1, price: '7' }]);
        if (classTransformer) expectJson(await agent.get('/boxes/getter'), 200, { owner: shown });
      });
    }

    it('shows what a method writes to the response itself', async () => {
      class Owners extends crudController(Owner) {
        @Get('/best/json')
        json(@Res() response: Response): object {
          return response.json({ best: hidden(2) });
        }

        @Get('/best/jsonp')
        jsonp(@Res() response: Response): object {
          return response.jsonp({ best: hidden(2) });
        }

        @Get('/best/send')
        async send(@Res() response: Response): Promise<object> {
          return response.send([await Pet.findOne({ include: [Owner] })]);
        }

        override async read(_id: unknown, _query: ReadQuery, { response }: CrudContext): Promise<Owner> {
          response.json(hidden(3));
          return response as unknown as Owner;
        }
      }
      const { agent } = await buildApp({
        models: [Owner, Pet],
        controllers: [Owners, Boxes],
        routing: { classTransformer: false },
        logger,
      });
      for (const path of ['/owners/best/json', '/owners/best/jsonp'])
        expectJson(await agent.get(path), 200, { best: { id: 2, name: 'x!' } });
      expectJson(await agent.get('/owners/best/send'), 200, [PET]);
      expectJson(await agent.get('/owners/1'), 200, { id: 3, name: 'x!' });
      expectJson(await agent.get('/boxes/written'), 200, { content: { id: 2, name: 'x!' } });
    });

    it('refuses to send { ...record }', async () => {
      logger.clear();
      const { agent } = await buildApp({ models: [Owner], controllers: [Boxes], logger });
      const { status, text } = await agent.get('/boxes/torn');
      expect(status).to.equal(500);
      expect(text).to.not.match(INTERNAL);
      expect(logger.text).to.contain('use record.get()');
    });

    it('[C6] never shows what Sequelize keeps or a model hides, whatever a result looks like', async () => {
      let result: unknown;
      @JsonController('/any')
      class AnyController {
        @Get('/')
        any(): unknown {
          return result;
        }
      }
      const serveAny = (classTransformer: boolean) =>
        buildApp({ models: [Owner], controllers: [AnyController], logger, routing: { classTransformer } });
      const transformed = await serveAny(true);
      const plain = await serveAny(false);
      await fc.assert(
        fc.asyncProperty(anyResult, fc.boolean(), async (content, isTransformed) => {
          result = { content };
          logger.clear();
          const { text, status } = await (isTransformed ? transformed : plain).agent.get('/any');
          expect(text).to.not.match(INTERNAL);
          expect(status, logger.text).to.equal(200);
        }),
        { numRuns: 150 },
      );
    });
  });
});
