/** Options of nested writes that cannot hold: the start says why, and how to mend them. */
import { expect } from 'chai';
import { UseBefore } from 'routing-controllers';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  HasOne,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  type Class,
  Crud,
  type CrudContext,
  type CrudOptions,
  crudController,
  HasManyKey,
  type ModelClass,
  Repository,
  type UpdateValues,
} from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { describeNested } from '../../support/nested-orders.js';
import { serveTestApp } from '../../support/test-app.js';

const INTEGER = DataType.INTEGER;

@Table({ tableName: 'boxes', timestamps: false })
class Box extends Model {
  @PrimaryKey @Column(INTEGER) declare id: number;
  @HasMany(() => Cup, 'boxId') declare cups?: Cup[];
  @HasMany(() => Lid, { foreignKey: 'boxId', constraints: false }) declare lids?: Lid[];
  @HasMany(() => Cup, { foreignKey: 'boxId', scope: { size: 1 } }) declare smallCups?: Cup[];
  @BelongsToMany(() => Box, { through: () => Beside, foreignKey: 'one', otherKey: 'other' })
  declare besides?: Box[];
  @HasMany(() => Box, { foreignKey: 'outerId', constraints: false }) declare boxes?: Box[];
  @Column({ type: INTEGER, allowNull: false }) declare outerId: number;
  @HasOne(() => Cup, 'boxId') declare cup?: Model;
  @HasManyKey(() => Cup, { id: 'boxId', outerId: 'size' }) declare outerCups?: Cup[];
  @Column({ type: INTEGER, unique: true }) declare number: number | null;
  @HasMany(() => Spoon, { sourceKey: 'number', foreignKey: 'cupId', constraints: false })
  declare spoons?: Spoon[];
}

@Table({ tableName: 'cups', timestamps: false })
class Cup extends Model {
  @PrimaryKey @Column(INTEGER) declare id: number;
  @Column(INTEGER) declare size: number | null;
  @ForeignKey(() => Box) @Column({ type: INTEGER, allowNull: false }) declare boxId: number;
  @BelongsTo(() => Box, 'boxId') declare box?: Model;
  @HasMany(() => Spoon, 'cupId') declare spoons?: Spoon[];
}

@Table({ tableName: 'spoons', timestamps: false })
class Spoon extends Model {
  @PrimaryKey @Column(INTEGER) declare id: number;
  @ForeignKey(() => Cup) @Column({ type: INTEGER, allowNull: false }) declare cupId: number;
}

@Table({ tableName: 'lids', timestamps: false })
class Lid extends Model {
  @PrimaryKey @Column(INTEGER) declare id: number;
  @Column(INTEGER) declare boxId: number | null;
}

@Table({ tableName: 'besides', timestamps: false })
class Beside extends Model {
  @PrimaryKey @Column(INTEGER) declare one: number;
  @PrimaryKey @Column(INTEGER) declare other: number;
}

const MODELS = [Box, Cup, Spoon, Lid, Beside] as unknown as ModelClass[];
const MEND = 'write its rows by routes of their own';

describeNested('nested writes that cannot be', () => {
  serveTestApp(() => ({
    models: [],
    engine: { models: MODELS },
    bootstrap: { logger: new CapturedLog() },
  }));
  useEmptyRegistry();

  const problemsOf = (nested: unknown, cup: object = {}, box: object = {}, controllers: Class[] = []) => {
    const declare = (model: ModelClass, options: object): void => Crud(options as CrudOptions)(model);
    declare(Box as unknown as ModelClass, { nested, ...box });
    if (controllers.length === 0) declare(Cup as unknown as ModelClass, cup);
    declare(Spoon as unknown as ModelClass, {});
    declare(Lid as unknown as ModelClass, {});
    const models = [Box, Spoon, Lid, ...(controllers.length === 0 ? [Cup] : [])] as unknown as ModelClass[];
    return configProblems(() =>
      buildApp({ models, controllers, logger: new CapturedLog(), indexAdvice: false }),
    );
  };

  for (const [nested, problem] of [
    [['cups'], "nested is [ 'cups' ]; use an object such as { lines: true }."],
    [{ cups: 3 }, 'nested.cups is 3; use true, or an object such as { max: 50 }.'],
    [{ cups: { max: 0 } }, 'nested.cups.max is 0; use an integer from 1 to 1000.'],
    [{ cups: { touch: 'yes' } }, 'nested.cups.touch is "yes"; use true or false.'],
    [{ cups: { size: 3 } }, "nested.cups has no option 'size'. The options are max, touch, replace."],
    [
      { cusp: true },
      "nested.cusp is no relation of Box. Did you mean 'cup'? The relations are cups, lids, smallCups, besides, boxes, cup, spoons, outerCups.",
    ],
    [
      { lids: true },
      'nested.lids leads to Lid, which may be without a parent, because boxId may be null; set allowNull: false, or use links, or write them by routes of their own.',
    ],
    [
      { besides: true },
      'nested.besides is many-to-many, whose records belong to no parent; use links, or write them by routes of their own.',
    ],
    [
      { smallCups: true },
      'nested.smallCups has the scope { size: 1 }, which rows that are written would not have; nest a relation without one.',
    ],
    [
      { cup: true },
      'nested.cup has one record, and a Box may have several, because Cup.boxId is not unique; write unique: true at its @Column, or give @Table a unique index of it.',
    ],
    [{ boxes: true }, `nested.boxes leads from a Box to others, where a row may belong to itself; ${MEND}.`],
    [{ outerCups: true }, `nested.outerCups is by a key of several attributes; ${MEND}.`],
    [
      { spoons: true },
      'nested.spoons leads from Box by number, which may be null, so that a Box could have no spoons; set allowNull: false, or use links, or write them by routes of their own.',
    ],
    [{ 'cups.spoons': true }, "nested has 'cups.spoons' without 'cups'; add 'cups': true."],
    [
      { cups: { max: 100 }, 'cups.spoons': { max: 11 } },
      'nested.cups.spoons lets a request write 1100 rows for one Box; at most 1000 are allowed. Lower max here, or of the relation before it.',
    ],
    [
      { cups: { touch: true } },
      'nested.cups has touch: true, and Box has no version to raise; give its @Table version: true, or leave touch out.',
    ],
  ] as const) {
    it(`are told: ${JSON.stringify(nested)}`, async () => {
      expect(await problemsOf(nested)).to.deep.equal([`Box: ${problem}`]);
    });
  }

  it('are told where whole sets cannot be', async () => {
    expect(await problemsOf({ cups: { replace: true } }, { endpoints: ['list', 'update'] })).to.deep.equal([
      "Box: nested.cups has replace: true, and endpoints has no 'replace'; add it, or leave replace out.",
      'Box: nested.cups has replace: true, and the endpoints of Cup lack delete, create; add them, or leave replace out.',
      'Box: nested.cups has replace: true, and the server does not make the id of a Cup, so that no item shows whether it is new; leave replace out, and send create, update and delete.',
    ]);
  });

  it('are told where the parent is meant', async () => {
    const declare = (model: ModelClass, options: object): void => Crud(options as CrudOptions)(model);
    declare(Box as unknown as ModelClass, {});
    declare(Cup as unknown as ModelClass, { nested: { box: true } });
    const models = [Box, Cup] as unknown as ModelClass[];
    expect(await configProblems(() => buildApp({ models, logger: new CapturedLog() }))).to.deep.equal([
      'Cup: nested.box leads to the parent of Cup, and not to its children; write its key, or nest Cup in Box.',
    ]);
  });

  it('are told where nothing is served, and where no verb is', async () => {
    const declare = (model: ModelClass, options: object): void => Crud(options as CrudOptions)(model);
    declare(Box as unknown as ModelClass, { nested: { cups: true } });
    const [problem] = await configProblems(() =>
      buildApp({ models: [Box] as unknown as ModelClass[], logger: new CapturedLog() }),
    );
    expect(problem).to.match(/^Box: nested\.cups leads to Cup, which is not served/);
  });

  it('are told where the child has no verb', async () => {
    expect(await problemsOf({ cups: true }, { endpoints: ['list', 'read'] })).to.deep.equal([
      "Box: nested.cups leads to Cup, whose endpoints have neither 'create' nor 'update' nor 'delete'; add those that may be nested.",
    ]);
  });

  it('are told where they would pass by code of the child', async () => {
    const [shown] = await problemsOf({ cups: true }, { dependencies: [() => {}] });
    expect(shown).to.equal(
      `Box: nested.cups would show what the routes of Cup may hide, because it has dependencies; ${MEND}.`,
    );
  });

  it('are told where a controller of the child overrides, guards or decorates a write', async () => {
    class Overriding extends crudController(Cup) {
      override update(id: number, values: UpdateValues<Cup>, context: CrudContext<Cup>) {
        return super.update(id, values, context);
      }
    }
    expect(await problemsOf({ cups: true }, {}, {}, [Overriding])).to.deep.equal([
      `Box: nested.cups would pass by code of Cup, because Overriding overrides update; ${MEND}.`,
    ]);
  });

  it('are told where middlewares guard a write of the child', async () => {
    @UseBefore((_request: unknown, _response: unknown, next: () => void) => next())
    class Guarded extends crudController(Cup) {}
    const problems = await problemsOf({ cups: true }, {}, {}, [Guarded]);
    expect(problems.join('\n')).to.include('because Guarded has middlewares or @Authorized');
  });

  it('are told where a repository of the child takes part', async () => {
    class Cups extends Repository<Cup> {
      static override model = Cup;
      override async delete(): Promise<void> {}
    }
    class Own extends crudController(Cups) {}
    const problems = await problemsOf({ cups: true }, {}, {}, [Own]);
    expect(problems.join('\n')).to.include('because it has a repository of its own');
  });
});
