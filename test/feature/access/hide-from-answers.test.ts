/** Attributes that a model hides by its default scope or its `toJSON`: no answer has them, whichever code writes it. */
// @runs fast
import { expect } from 'chai';
import { Exclude, Expose } from 'class-transformer';
import type { Request } from 'express';
import { Get } from 'routing-controllers';
import { BelongsTo, Column, DataType, DefaultScope, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, crudController, type ModelClass } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { ask, TwoPaths, type WholeRequest } from '../../support/two-paths.js';

const SECRET = 'SECRET';
const ENDPOINTS = 'list read create update delete replace restore createMany updateMany'.split(' ');
const OPTIONS = { endpoints: ENDPOINTS, can: { deleted: true } };
const TABLE = { timestamps: true, paranoid: true, updatedAt: false, createdAt: false } as const;

abstract class Owned extends KeyedRow {
  @Column(DataType.TEXT) declare email: string | null;
  @Column({ type: DataType.TEXT, defaultValue: () => SECRET }) declare token: string | null;
}

/** Leaves some out. */
@Crud(OPTIONS as object)
@DefaultScope(() => ({ attributes: { exclude: ['token', 'deletedAt'] } }))
@Table({ ...TABLE, tableName: 'scoped' })
class Scoped extends Owned {}

/** Names all that there is. */
@Crud(OPTIONS as object)
@DefaultScope(() => ({ attributes: ['id', 'email'] }))
@Table({ ...TABLE, tableName: 'named' })
class Named extends Owned {}

/** Has a form without it. */
@Crud(OPTIONS as object)
@Table({ ...TABLE, tableName: 'formed' })
class Formed extends Owned {
  override toJSON(): never {
    const { token: _, deletedAt: __, ...values } = this.get() as Record<string, unknown>;
    return { ...values, more: SECRET } as never;
  }
}

/** Has it from a class between, which masks. */
abstract class Masked extends Owned {
  override toJSON(): never {
    return { ...(super.toJSON() as object), token: '***', deletedAt: undefined } as never;
  }
}

@Crud(OPTIONS as object)
@Table({ ...TABLE, tableName: 'inheriting' })
class Inheriting extends Masked {}

/** Has other values. */
@Crud(OPTIONS as object)
@Table({ ...TABLE, tableName: 'getting' })
class Getting extends Owned {
  override get(...args: unknown[]): never {
    const values = Reflect.apply(super.get, this, args);
    if (typeof args[0] === 'string') return values as never;
    const { token: _, deletedAt: __, ...others } = values as Record<string, unknown>;
    return others as never;
  }
}

/** Shows it to groups, of which answers have none. */
@Crud(OPTIONS as object)
@Table({ ...TABLE, tableName: 'grouped' })
class Grouped extends Owned {
  @Expose({ groups: ['admin'] }) declare token: string | null;
  @Exclude({ toPlainOnly: true }) declare deletedAt: Date | null;
}

/** Was given one. */
@Crud(OPTIONS as object)
@Table({ ...TABLE, tableName: 'mixed' })
class Mixed extends Owned {}
Object.assign(Mixed.prototype, { toJSON: Formed.prototype.toJSON });

/** No route serves it. */
@Table({ tableName: 'keepers', timestamps: false })
class Keeper extends Owned {
  @HasMany(() => Kept) declare kept: Kept[];

  override toJSON(): never {
    const { token: _, ...values } = super.toJSON() as Record<string, unknown>;
    return values as never;
  }
}

@Crud({ endpoints: ENDPOINTS.filter((each) => each !== 'restore' && each !== 'replace') } as object)
@Table({ tableName: 'kept', timestamps: false })
class Kept extends NumberedRow {
  @Exclude() @Column({ type: DataType.TEXT, defaultValue: SECRET }) declare pin: string | null;
  @ForeignKey(() => Keeper) @Column(DataType.INTEGER) declare keeperId: number | null;
  @BelongsTo(() => Keeper) declare keeper?: unknown;
}

class KeptController extends crudController(Kept) {
  @Get('/:id/keeper')
  async keeper() {
    return Keeper.findAll({ include: [Kept] });
  }
}

abstract class Guessed extends KeyedRow {
  @Column(DataType.TEXT) declare name: string | null;

  declare version: number;
}

const GUESSED = {
  endpoints: ['read', 'list', 'update', 'replace', 'updateMany'],
  filterAllow: ['name'],
} as const;
const VERSIONED = { timestamps: true, createdAt: false, updatedAt: false, version: true } as const;

@Crud(GUESSED as object)
@Table({ ...VERSIONED, tableName: 'excluding' })
class Excluding extends Guessed {
  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.TEXT, defaultValue: 'right' })
  declare pin: string | null;
}

@Crud({
  ...GUESSED,
  fields: { pin: { read: ({ headers }: Request) => headers['role'] === 'admin' } },
} as object)
@Table({ ...VERSIONED, tableName: 'ruled' })
class Ruled extends Guessed {
  @Column({ type: DataType.TEXT, defaultValue: 'right' }) declare pin: string | null;
}

@Crud(GUESSED as object)
@DefaultScope(() => ({ attributes: { exclude: ['pin'] } }))
@Table({ ...VERSIONED, tableName: 'leaving_out' })
class LeavingOut extends Guessed {
  @Column({ type: DataType.TEXT, defaultValue: 'right', validate: { len: [0, 9] } })
  declare pin: string | null;
}

@Crud(GUESSED as object)
@Table({ ...VERSIONED, tableName: 'getting_other' })
class GettingOther extends Guessed {
  @Column({ type: DataType.TEXT, defaultValue: 'right', get: () => '***' }) declare pin: string | null;
}

/** Models, with the token that each shows. */
const MODELS: readonly (readonly [model: ModelClass, path: string, token: object])[] = [
  [Scoped, '/scopeds', {}],
  [Named, '/nameds', {}],
  [Formed, '/formeds', {}],
  [Inheriting, '/inheritings', { token: '***' }],
  [Getting, '/gettings', {}],
  [Grouped, '/groupeds', {}],
  [Mixed, '/mixeds', {}],
];

const GUESSABLE: readonly (readonly [model: ModelClass, prefix: string])[] = [
  [Excluding, '/excludings'],
  [Ruled, '/ruleds'],
  [LeavingOut, '/leaving-outs'],
  [GettingOther, '/getting-others'],
];

except(OF_MANY).describe('an attribute that a model hides from its records', () => {
  const paths = forSuite(() => {
    const served = [...[...MODELS, ...GUESSABLE].map(([model]) => model), Kept];
    return TwoPaths.start({
      models: [...served, Keeper],
      bootstrap: { models: served, controllers: [KeptController], indexAdvice: false },
    });
  });

  before(async () => {
    const keeper = await Keeper.create({ id: 1, email: 'k' });
    await Kept.create({ keeperId: keeper.get('id') });
  });

  for (const [model, path, token] of MODELS) {
    describe(`by ${model.name}`, () => {
      beforeEach(async () => {
        await model.destroy({ where: {}, force: true });
        await model.bulkCreate([
          { id: 1, email: 'a' },
          { id: 2, email: 'b', deletedAt: new Date() },
        ]);
      });
      const undo = async () => {
        await model.destroy({ where: { id: [1, 3] }, force: true });
        await model.create({ id: 1, email: 'a' });
        await model.update({ deletedAt: new Date() }, { where: { id: 2 }, paranoid: false });
      };
      const write = async (method: string, to: string, body?: object) => {
        await undo();
        const wanted = { method, path: path + to, ...(body ? { body } : {}) };
        return JSON.parse((await paths.same(wanted, undo)).body);
      };
      const shown = (id: number, email: string) => ({ id, email, ...token });

      it('[U3] is in no list, and in no read', async () => {
        const { items } = JSON.parse((await paths.same({ path })).body);
        expect(items).to.deep.equal([shown(1, 'a')]);
        expect(JSON.parse((await paths.same({ path: `${path}/1` })).body)).to.deep.equal(shown(1, 'a'));
      });

      it('[U3] is in no answer of a write', async () => {
        expect(await write('POST', '', { id: 3, email: 'c' })).to.deep.equal(shown(3, 'c'));
        expect(await write('POST', '', [{ id: 3, email: 'c' }])).to.deep.equal({ items: [shown(3, 'c')] });
        expect(await write('PATCH', '/1', { email: 'd' })).to.deep.equal(shown(1, 'd'));
        expect(await write('PATCH', '/1', { token: `${SECRET}2` })).to.deep.equal(shown(1, 'a'));
        expect(await write('PATCH', '', [{ id: 1, email: 'd' }])).to.deep.equal({ items: [shown(1, 'd')] });
        expect(await write('PUT', '/1', { email: 'e' })).to.deep.equal(shown(1, 'e'));
        expect(await write('PUT', '/3', { email: 'e' })).to.deep.equal(shown(3, 'e'));
        expect(await write('POST', '/2/restore')).to.deep.equal(shown(2, 'b'));
      });
    });
  }

  describe('and a client sends', () => {
    /** All ways to write it, with the other members that they need. */
    const writes = (pin: string): readonly Required<Pick<WholeRequest, 'method' | 'path' | 'body'>>[] => {
      const first = { id: 1, pin };
      return [
        { method: 'PATCH', path: '/1', body: { pin } },
        { method: 'PATCH', path: '/1', body: { pin, name: 'a' } },
        { method: 'PUT', path: '/1', body: { pin, name: 'a' } },
        { method: 'PATCH', path: '', body: [first] },
        { method: 'PATCH', path: '', body: [first, { id: 2, name: 'c' }] },
        { method: 'PATCH', path: '?dry_run=true', body: [first] },
        { method: 'PATCH', path: '?q=name==a', body: { pin } },
      ];
    };

    for (const [model, prefix] of GUESSABLE) {
      const undo = async () => {
        await model.destroy({ where: {}, force: true });
        await model.bulkCreate([
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ]);
      };

      it(`is written whether or not it differs, so that a version of ${model.name} tells nothing`, async () => {
        for (const [index, right] of writes('right').entries()) {
          const answers = [];
          for (const wanted of [right, writes('wrong')[index] as typeof right]) {
            await undo();
            const { body } = await paths.same({ ...wanted, path: prefix + wanted.path }, undo);
            const row = await model.unscoped().findByPk(1, { raw: true, attributes: ['version'] });
            answers.push({ body, row });
          }
          expect(answers[0], JSON.stringify(right)).to.deep.equal(answers[1]);
          if (!right.path.includes('q=') && !Array.isArray(right.body))
            expect(JSON.parse(answers[0]?.body ?? '')).to.include({ version: 1 });
        }
      });

      it(`leaves a version of ${model.name} as it is where other attributes do not differ`, async () => {
        await undo();
        const { body } = await paths.same({ method: 'PATCH', path: `${prefix}/1`, body: { name: 'a' } });
        expect(JSON.parse(body)).to.include({ version: 0 });
      });
    }

    it('is compared for those who may read it', async () => {
      await Ruled.destroy({ where: {} });
      await Ruled.create({ id: 1, name: 'a' });
      const headers = { role: 'admin' };
      const wanted = { method: 'PATCH', path: '/ruleds/1', headers, body: { pin: 'right' } };
      expect(JSON.parse((await paths.same(wanted)).body)).to.include({ pin: 'right', version: 0 });
    });
  });

  it('is unknown to fields where the default scope hides it', async () => {
    const { status, body } = await paths.same({ path: '/scopeds?fields=token' });
    expect(status).to.equal(400);
    expect(JSON.parse(body).detail).to.equal("There is no field 'token'. The fields are id, email.");
  });

  it('is in no record of a model that no route serves, and records inside show what theirs do', async () => {
    const { body } = await ask(paths.fast, { path: '/kepts/1/keeper' });
    expect(JSON.parse(body)).to.deep.equal([{ id: 1, email: 'k', kept: [{ id: 1, keeperId: 1 }] }]);
  });

  it('is optional in the document where only a record tells it', () => {
    const { schemas } = paths.site.crud.openapi().components as { schemas: Record<string, object> };
    expect(schemas['FormedRead']).to.not.have.property('required');
    expect(schemas['ScopedRead']).to.have.property('properties').that.has.all.keys('id', 'email');
  });
});
