/** `Repository`: rows of one model, as a user's own code reads and writes them. */
import { setTimeout } from 'node:timers/promises';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { Op, type Order, QueryTypes } from 'sequelize';
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
  ConfigError,
  Crud,
  crudController,
  filter,
  MultipleResultsFound,
  NotFoundError,
  RelationNotLoaded,
  Repository,
  repository,
  statusFor,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { caughtError } from '../../support/caught-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

/** Values that the validator of a town received. */
const validated: number[] = [];

@Crud()
@Table({ tableName: 'towns', timestamps: false })
class Town extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string;

  @Column({
    type: DataType.INTEGER,
    allowNull: false,
    defaultValue: 0,
    validate: {
      isCounted(value: number) {
        validated.push(value);
      },
    },
  })
  declare population: number;

  @HasMany(() => Street) declare streets?: Street[];
}

@Crud()
@Table({ tableName: 'streets', paranoid: true, version: true, timestamps: true })
class Street extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string;
  @ForeignKey(() => Town) @Column(DataType.INTEGER) declare townId: number | null;
  @BelongsTo(() => Town) declare town?: Town | null;
}

@DefaultScope(() => ({ where: { isPublic: true } }))
@Table({ tableName: 'parks', timestamps: false })
class Park extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare code: string;
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare isPublic: boolean;
}

class TownRepository extends Repository<Town> {
  static override model = Town;
  large() {
    return this.list({ where: { population: 500 }, order: [['name', 'DESC']] });
  }
}

describe('a repository', () => {
  const towns = new Repository(Town);
  const streets = new Repository(Street);
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Town, Street, Park],
    bootstrap: { models: [Town, Street] },
    engine: { logging: sql.record },
    minPool: 2,
  }));

  const namesOf = (records: readonly { readonly name: string }[]) => records.map(({ name }) => name);

  beforeEach(async () => {
    await emptyTables(site, 'streets', 'towns', 'parks');
    await Town.bulkCreate([
      { name: 'Lyon', population: 500 },
      { name: 'Nice', population: 300 },
      { name: 'Metz', population: 500 },
    ]);
    await Street.create({ name: 'Quai', townId: 1 });
  });

  describe('finding one row', () => {
    it('gets it by its primary key', async () => {
      const nice = await towns.get(2);
      expect(nice).to.be.instanceOf(Town).and.include({ id: 2, name: 'Nice' });
      expect(await towns.get('2')).to.include({ name: 'Nice' });
      expect(await towns.get(2n)).to.include({ name: 'Nice' });
    });

    it('raises NotFoundError, or gives null, where there is none', async () => {
      const error = await caughtError(() => towns.get(9));
      expect(error).to.be.instanceOf(NotFoundError);
      expect(error).to.have.property('message', 'There is no Town with this id.');
      expect(await towns.find(9)).to.equal(null);
    });

    it('takes a soft-deleted row for missing', async () => {
      await streets.delete(1);
      expect(await streets.find(1)).to.equal(null);
      const update = () => streets.update(1, { name: 'x' });
      for (const work of [() => streets.get(1), () => streets.delete(1), update])
        expect(await caughtError(work)).to.be.instanceOf(NotFoundError);
      expect(await Street.count({ paranoid: false })).to.equal(1);
    });

    it('reads only the attributes that it is asked for, in a unit of work too', async () => {
      const read = () => towns.get(2, { fields: ['name'] });
      for (const work of [read, () => unitOfWork(read)]) {
        const { result, statements } = await sql.during(work);
        expect(result).to.be.instanceOf(Town).and.include({ name: 'Nice', isNewRecord: false });
        expect(Object.keys(result.get())).to.deep.equal(['name']);
        expect(statements).to.include('SELECT "name" FROM "towns" AS "Town" WHERE "Town"."id" = $1');
      }
      await Park.create({ code: 'a', isPublic: true });
      // A scope is for Sequelize to apply.
      const park = await new Repository(Park).find('a', { fields: ['isPublic'] });
      expect(park?.get()).to.deep.equal({ isPublic: true });
    });

    it('finds what Sequelize finds for keys of all kinds', async () => {
      const numbers = ['2', ' 2', '02', 2.5, '2.5', -1, 2 ** 40, 2n ** 70n];
      for (const id of [...numbers, 'x', '']) {
        const find = async (work: () => Promise<Town | null>) =>
          work().then(
            (town) => town?.id ?? null,
            (error: unknown) => (error as { readonly parent?: { readonly code?: string } }).parent?.code,
          );
        const expected = await find(() => Town.findOne({ where: { id: id as number } }));
        expect(await find(() => towns.find(id as number)), String(id)).to.equal(expected);
      }
    });

    it('refuses what would find other rows, or any', async () => {
      const { statements } = await sql.during(async () => {
        for (const [id, shown] of [
          [undefined, 'undefined'],
          [null, 'null'],
          [[1, 2], '[ 1, 2 ]'],
          [{ id: 1 }, '{ id: 1 }'],
          [{ [Op.gt]: 0 }, inspect({ [Op.gt]: 0 })],
        ] as const)
          for (const work of [() => towns.find(id as never), () => towns.delete(id as never)]) {
            const error = (await caughtError(work)) as Error;
            const message = `An id of Town is ${shown}; give the id of a record.`;
            expect([error.name, error.message]).to.deep.equal(['TypeError', message]);
          }
      });
      expect(statements).to.deep.equal([]);
    });

    it('gives the only one that matches', async () =>
      expect(await towns.one({ name: 'Lyon' })).to.include({ id: 1 }));

    it('raises NotFoundError where none matches, and MultipleResultsFound where several do', async () => {
      const none = await caughtError(() => towns.one({ name: 'Rome' }));
      expect(none).to.be.instanceOf(NotFoundError);
      const several = await caughtError(() => towns.one({ population: 500 }));
      expect(several).to.be.instanceOf(MultipleResultsFound);
      expect(several).to.have.property('message', 'There is more than one such Town.');
      expect([statusFor(none as Error), statusFor(several as Error)]).to.deep.equal([404, 409]);
    });
  });

  describe('finding several', () => {
    it('gives all of them by primary key', async () =>
      expect(namesOf(await towns.list())).to.deep.equal(['Lyon', 'Nice', 'Metz']));

    it('takes a condition, an order and a range', async () => {
      const order: Order = [['name', 'DESC']];
      const found = await towns.list({ where: { population: 500 }, order, limit: 1, offset: 1 });
      expect(namesOf(found)).to.deep.equal(['Lyon']);
    });

    it('keeps to the scopes of the model', async () => {
      await Park.bulkCreate([
        { code: 'open', isPublic: true },
        { code: 'closed', isPublic: false },
      ]);
      expect((await new Repository(Park).list()).map(({ code }) => code)).to.deep.equal(['open']);
      expect(await new Repository(Park).find('closed')).to.equal(null);
    });

    it('gives a page and how many rows there are in all', async () => {
      const { items, ...rest } = await towns.page({ page: 1, size: 2 });
      expect(namesOf(items)).to.deep.equal(['Lyon', 'Nice']);
      expect(rest).to.deep.equal({ total: 3, page: 1, size: 2 });
    });

    it('filters and sorts a page', async () => {
      const sort = [{ attribute: 'name', descending: false }];
      const { items, total } = await towns.page({ page: 1, size: 5, where: { population: 500 }, sort });
      expect({ names: namesOf(items), total }).to.deep.equal({ names: ['Lyon', 'Metz'], total: 2 });
    });

    it('walks pages by place, in both directions', async () => {
      const sort = [{ attribute: 'population', descending: true }];
      const first = await towns.cursorPage({ size: 2, sort });
      expect(namesOf(first.items)).to.deep.equal(['Metz', 'Lyon']);
      expect(first.prev).to.equal(null);
      const second = await towns.cursorPage({ size: 2, sort, after: first.next });
      expect(namesOf(second.items)).to.deep.equal(['Nice']);
      expect(second.next).to.equal(null);
      const back = await towns.cursorPage({ size: 2, sort, before: second.prev });
      expect(namesOf(back.items)).to.deep.equal(['Metz', 'Lyon']);
    });

    it('leaves out the row of a place that is written in another way', async () => {
      const sort = [{ attribute: 'population', descending: true }];
      const { next } = await towns.cursorPage({ size: 1, sort });
      const after = { values: (next?.values ?? []).map((value) => ` 0${value} `), isInclusive: false };
      const { items, prev } = await towns.cursorPage({ size: 2, sort, after });
      expect(namesOf(items)).to.deep.equal(['Lyon', 'Nice']);
      expect(prev).not.to.equal(null);
    });
  });

  describe('writing', () => {
    it('gives rows as they are stored, defaults and attributes that stay included', async () => {
      const brest = await towns.create({ name: 'Brest' });
      const lyon = await towns.update(1, { population: 501 });
      expect(brest.get({ plain: true })).to.deep.equal({ id: 4, name: 'Brest', population: 0 });
      expect(lyon.get({ plain: true })).to.deep.equal({ id: 1, name: 'Lyon', population: 501 });
    });

    it('validates a change once', async () => {
      validated.length = 0;
      await towns.update(2, { population: 310 });
      expect(validated).to.deep.equal([310]);
    });

    it('raises NotFoundError where there is no row to change or to delete', async () => {
      for (const work of [() => towns.update(9, { name: 'x' }), () => towns.delete(9)]) {
        expect(await caughtError(work)).to.be.instanceOf(NotFoundError);
      }
    });

    it('has two updates of one row with a version wait for each other', async () => {
      const seen: unknown[] = [];
      const see = async (street: Street) => {
        seen.push(street.get('version'));
        await setTimeout(50);
      };
      await withHook(Street, 'beforeUpdate', see, () =>
        Promise.all([streets.update(1, { name: 'Rue' }), streets.update(1, { name: 'Quai' })]),
      );
      expect(seen).to.deep.equal([0, 1]);
      expect(await streets.get(1)).to.include({ version: 2 });
    });

    it('lets hooks write with it or not at all', async () => {
      const fail = async ({ id }: Town) => {
        await Street.create({ name: 'Main', townId: id });
        throw new Error('no');
      };
      const create = () => caughtError(() => towns.create({ name: 'Brest' }));
      expect(await withHook(Town, 'afterCreate', fail, create)).to.have.property('message', 'no');
      expect([await Town.count(), await Street.count()]).to.deep.equal([3, 1]);
    });

    it('undoes it where a hook of queries throws', async () => {
      const refuse = ({ type }: { readonly type: QueryTypes }) => {
        if (type === QueryTypes.INSERT) throw new Error('no');
      };
      const create = () => caughtError(() => towns.create({ name: 'Brest' }));
      const error = await withHook(site.engine.sequelize, 'afterQuery', refuse, create);
      expect(error).to.have.property('message', 'no');
      expect(await Town.count()).to.equal(3);
    });
  });

  describe('choosing rows', () => {
    it('takes a filter, and a condition, in each of its queries', async () => {
      const large = filter`population>=${400};name!=${'Metz'}`;
      const where = { population: 500 };
      for (const [choice, expected] of [
        [{ where: large }, ['Lyon']],
        [{ filter: large }, ['Lyon']],
        [{ where, filter: filter`name==Metz` }, ['Metz']],
        [{ where: filter`population==500`, filter: filter`name=in=${['Metz', 'Nice']}` }, ['Metz']],
        [{ where }, ['Lyon', 'Metz']],
        [{ filter: null }, ['Lyon', 'Nice', 'Metz']],
        [{ where: filter`name=in=${[]}` }, []],
      ] as const) {
        const counted = await towns.count(choice);
        const { items, total } = await towns.page({ ...choice, page: 1, size: 2 });
        const { items: walked } = await towns.cursorPage({ ...choice, size: 9 });
        expect([counted, total]).to.deep.equal([expected.length, expected.length]);
        expect(namesOf(await towns.list(choice))).to.deep.equal(expected);
        expect([namesOf(items), namesOf(walked)]).to.deep.equal([expected.slice(0, 2), expected]);
      }
      expect(await towns.one(filter`name==Nice`)).to.include({ id: 2 });
      expect(await towns.count()).to.equal(3);
    });

    it('counts what it would list: deleted rows where it is asked to, and rows of a default scope', async () => {
      await streets.create({ name: 'Rue', townId: 2 });
      await streets.delete(1);
      const counts = [{}, { deleted: 'only' }, { deleted: 'with' }] as const;
      for (const [index, choice] of counts.entries()) {
        expect(await streets.count(choice)).to.equal([1, 1, 2][index]);
        expect((await streets.list(choice)).length).to.equal([1, 1, 2][index]);
      }
      await Park.bulkCreate([
        { code: 'a', isPublic: true },
        { code: 'b', isPublic: false },
      ]);
      expect(await new Repository(Park).count()).to.equal(1);
    });

    it('refuses a filter that means nothing', async () => {
      const source = 'A query of Town';
      for (const [where, message] of [
        [filter`name==${null}`, `${source} has a value that is null or undefined: name==…`],
        [filter`nmae==x`, `${source} gave the filter 'nmae==x', which is wrong: `],
        [filter`streets.name==x`, `${source} gave a filter by a relation`],
      ] as const)
        for (const query of [
          () => towns.list({ where }),
          () => towns.count({ filter: where }),
          () => towns.one(where),
          () => towns.page({ where, page: 1, size: 1 }),
        ])
          expect(String(await caughtError(query))).to.contain(`TypeError: ${message}`);
    });
  });

  describe('giving relations', () => {
    it('gives what was loaded, a missing one included', async () => {
      await streets.create({ name: 'Nowhere' });
      const [quai, nowhere] = await streets.list({ include: ['town'] });
      expect(quai && streets.related(quai, 'town')).to.include({ name: 'Lyon' });
      expect(nowhere && streets.related(nowhere, 'town')).to.equal(null);
      const [lyon] = await towns.list({ include: { streets: true } });
      expect(namesOf((lyon && towns.related(lyon, 'streets')) ?? [])).to.deep.equal(['Quai']);
    });

    it('raises RelationNotLoaded for one that was not loaded', async () => {
      const street = await streets.get(1);
      const error = await caughtError(() => streets.related(street, 'town'));
      expect(error).to.be.instanceOf(RelationNotLoaded);
      const message = "The relation 'town' of this Street was not loaded; include it in the query.";
      expect(error).to.have.property('message', message);
      expect(statusFor(error as Error)).to.equal(500);
    });

    it('raises RelationNotLoaded for what is no relation', async () => {
      const street = await streets.get(1);
      const error = await caughtError(() => streets.related(street, 'name'));
      expect(error).to.have.property('message', "Street has no relation 'name'; it has town.");
    });
  });

  describe('of a subclass', () => {
    it('knows its model', async () =>
      expect(namesOf(await new TownRepository().large())).to.deep.equal(['Metz', 'Lyon']));

    it('stays of its class when it is bound to a transaction', () =>
      unitOfWork(async (uow) => {
        const bound = new TownRepository().with(uow);
        await bound.create({ name: 'Brest', population: 500 });
        expect(namesOf(await bound.large())).to.deep.equal(['Metz', 'Lyon', 'Brest']);
      }));

    it('is what the routes use', async () => {
      class LoudRepository extends Repository<Town> {
        static override model = Town;
        override async get(id: number): Promise<Town> {
          const town = await super.get(id);
          return town.set('name', town.name.toUpperCase());
        }
      }
      class TownController extends crudController(LoudRepository) {}
      const { agent } = await buildApp({ models: [Town], controllers: [TownController] });
      expect((await agent.get('/towns/1')).body).to.include({ name: 'LYON' });
    });

    it('is refused without a model', () => {
      class Nameless extends Repository {}
      expect(() => new Nameless()).to.throw(ConfigError, 'Nameless has no model');
    });
  });

  describe('bound to a transaction', () => {
    it('runs all of its queries there', async () => {
      await unitOfWork(async (uow) => {
        const { result, statements } = await sql.during(() => runEverything(towns.with(uow)));
        expect(result).to.deep.equal(['Brest', 1]);
        expect(statements.length).to.be.greaterThan(8);
      });
      expect(await towns.list({ where: { name: 'Brest' } })).to.deep.equal([]);
    });

    it('uses a transaction that the caller manages, and leaves the one it was made from alone', async () => {
      const transaction = await site.engine.sequelize.transaction();
      await towns.with({ transaction }).create({ name: 'Brest' });
      await transaction.rollback();
      expect(await Town.count()).to.equal(3);
      expect(await towns.create({ name: 'Brest' })).to.include({ name: 'Brest' });
    });
  });

  describe('from a provider', () => {
    it('is the same one each time, of the source', () => {
      const provide = repository(TownRepository);
      expect(provide()).to.be.instanceOf(TownRepository).and.equal(provide());
      expect(repository(Town)().model).to.equal(Town);
      expect(repository(towns)()).to.equal(towns);
    });

    it('is refused at once where the source is none', () =>
      expect(() => repository(class Foreign {} as unknown as typeof Town)).to.throw(
        ConfigError,
        'Expected a model class, a Repository or a subclass of Repository; got the class Foreign.',
      ));
  });
});

/** Every method, on a row of its own that is gone at the end. */
async function runEverything(towns: Repository<Town>): Promise<unknown[]> {
  const { id } = await towns.create({ name: 'Brest' });
  await towns.update(id, { population: 7 });
  const found = await towns.find(id);
  await towns.get(id);
  const { total } = await towns.page({ page: 1, size: 1, where: { population: 7 } });
  await towns.cursorPage({ size: 1, where: { population: 7 } });
  const { name } = await towns.one({ population: found?.population ?? 0 });
  await towns.delete(id);
  return [name, total];
}
