/** Two tenants whose rows lie between one another: no byte of any route reveals the other's, and no write reaches them. */
// @runs fast
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Get, Post } from 'routing-controllers';
import type { Model } from 'sequelize-typescript';
import { OPERATIONS } from '../../../src/declare/endpoint.js';
import { SqlExecutor } from '../../../src/execute/rows/sql-executor.js';
import { OperationCompiler } from '../../../src/execute/sql/operation-compiler.js';
import {
  type BootstrapOptions,
  type CrudController,
  type CrudOptions,
  crudController,
  InjectId,
  InjectListQuery,
  InjectRecord,
  InjectRepository,
  type ListQuery,
  type ModelClass,
  type Repository,
} from '../../../src/index.js';
import type { Operation } from '../../../src/operation/operation.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { onPath } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { listen } from '../../support/listen.js';
import { inUnit, passingController } from '../../support/passing-controllers.js';
import { startProofGround } from '../../support/proof-ground.js';
import { wholeOr } from '../../support/short.js';
import { Card, SERVED, Twin, type World } from '../../support/tenant-notes.js';

/** Overrides of every method that call `super`, and routes of their own. */
function overridden(model: ModelClass, options: CrudOptions = {}) {
  // No export goes through a method list, and neither import nor keys of upserts go with a list of endpoints without them; the type takes an option or none.
  const listed = {
    ...options,
    export: undefined,
    ...(options.endpoints ? { upsert: undefined, import: undefined } : {}),
  } as unknown as CrudOptions;
  class Overridden extends passingController(crudController(model, listed)) {
    @Get('/:id/alike')
    async alike(
      @InjectId() id: number,
      @InjectRecord() record: Model,
      @InjectRepository(model) rows: Repository,
    ) {
      const found = await rows.find(id);
      const pages = await rows.list({ where: { points: 5 }, include: ['folder'] });
      return { record, found, pages, first: await rows.page({ page: 1, size: 3 }) };
    }

    @Get('/of/points')
    points(@InjectListQuery() query: ListQuery, @InjectRepository(model) rows: Repository) {
      const where = { points: [5, 6, 7] };
      return query.kind === 'cursor' ? rows.cursorPage({ ...query, where }) : rows.page({ ...query, where });
    }

    @Post('/:id/touch')
    touch(@InjectRecord() record: Model, @InjectRepository(model) rows: Repository) {
      return rows.update(Number(record.get('id')), { points: 8 } as never);
    }
  }
  return Overridden;
}

const controllersOf = (make: (model: ModelClass) => unknown) =>
  SERVED.map((model) => make(model) as new () => CrudController);

/** Each way that a request can take to its rows. */
interface Way {
  readonly options: () => BootstrapOptions;
  readonly hooks?: readonly string[];
  readonly worlds?: readonly World[];
}
const WAYS: Readonly<Record<string, Way>> = {
  'generated controllers': {
    options: () => ({ fastPath: true }),
    worlds: wholeOr(['there', 'absent'], ['there', 'absent', 'changed']),
  },
  'generated controllers off the fast path': { options: () => ({ fastPath: false }) },
  // Each request has another principal, so that none is a repetition.
  'writes with an Idempotency-Key': {
    options: () => ({ fastPath: true, idempotency: { principal: () => randomUUID() } }),
    worlds: ['there'],
  },
  'an override of each method': {
    options: () => ({ fastPath: true, controllers: controllersOf((model) => overridden(model)) }),
  },
  'a unit of work': {
    // Decorated parameters are read once for a request, so no such method serves many records.
    options: () => ({
      fastPath: true,
      controllers: controllersOf((model) => inUnit(overridden(model, { endpoints: OPERATIONS }))),
    }),
  },
  'hooks of models': {
    options: () => ({ fastPath: true }),
    hooks: ['beforeFind', 'afterFind', 'beforeSave', 'beforeDestroy', 'beforeBulkDestroy'],
    worlds: wholeOr(['there'], ['there', 'absent']),
  },
};

/** Each way chooses its path. What Express 4 or one connection could change is how requests are read, and units of work. */
const ON_EXPRESS_4 = ['generated controllers', 'a unit of work'];
/** One for each who runs the SQL, and the one that shares statements of its own. */
const IN_SHORT = ['generated controllers', 'writes with an Idempotency-Key', 'hooks of models'];
const wanted = process.env['CRUD_TEST_EXPRESS'] === '4' ? ON_EXPRESS_4 : wholeOr(IN_SHORT, Object.keys(WAYS));

describe('two tenants', function () {
  this.timeout(120_000);
  after(async () => {
    for (const undo of unspy) undo();
  });

  const ground = forSuite(() => startProofGround());
  const kinds = { read: 0, list: 0, insert: 0, update: 0, replace: 0, delete: 0 } satisfies Record<
    Operation['kind'],
    number
  >;
  const compiled = new Map<string, number>();
  const unspy: (() => void)[] = [];

  /** Counts the calls of a method. */
  function spy(prototype: object, name: string, count: (argument: unknown) => void): void {
    const own = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
    const value = function (this: unknown, ...args: unknown[]): unknown {
      count(args[0]);
      return Reflect.apply(own.value, this, args);
    };
    Object.defineProperty(prototype, name, { ...own, value });
    unspy.push(() => Object.defineProperty(prototype, name, own));
  }

  before(async () => {
    spy(SqlExecutor.prototype, 'run', (operation) => {
      kinds[(operation as Operation).kind] += 1;
    });
    for (const name of Object.getOwnPropertyNames(OperationCompiler.prototype)) {
      if (name === 'constructor') continue;
      compiled.set(name, 0);
      spy(OperationCompiler.prototype, name, () => compiled.set(name, (compiled.get(name) ?? 0) + 1));
    }
  });

  for (const [way, { options, hooks = [], worlds }] of Object.entries(WAYS)) {
    if (!wanted.includes(way)) continue;
    it(`[D18 G4 R18] see nothing of each other through ${way}`, async () => {
      const { sequelize } = ground.site.engine;
      const { app, crud } = await buildApp({ models: SERVED, logger: new CapturedLog(), ...options() });
      await using listening = await listen(app);
      for (const model of SERVED) {
        const served = crud.routes.filter(({ resource }) => resource === model.name);
        expect(served.map(({ operation }) => operation)).to.include.members([...OPERATIONS]);
      }
      for (const name of hooks) sequelize.addHook(name as 'afterFind', 'idle', () => {});
      try {
        expect(await ground.findings({ listening, crud, worlds })).to.deep.equal([]);
      } finally {
        for (const name of hooks) sequelize.removeHook(name as 'afterFind', 'idle');
      }
    });
  }

  for (const fastPath of [true, false]) {
    it(`see nothing of each other by another key ${fastPath ? 'on' : 'off'} the fast path`, async () => {
      const { app, crud } = await buildApp({ models: [Twin], logger: new CapturedLog(), fastPath });
      await using listening = await listen(app);
      const worlds = wholeOr<World[]>(['there'], ['there', 'absent']);
      expect(await ground.findings({ listening, crud, worlds })).to.deep.equal([]);
    });

    it(`see nothing of each other through replacements ${fastPath ? 'on' : 'off'} the fast path`, async () => {
      const { app, crud } = await buildApp({ models: [Card], logger: new CapturedLog(), fastPath });
      await using listening = await listen(app);
      // Any create with a key shows that the key is taken, so the keys of others stay.
      expect(await ground.findings({ listening, crud, worlds: ['there'] })).to.deep.equal([]);
    });
  }

  it('were asked with every kind of operation and every statement of the compiler', () => {
    // Behind overrides a replacement is a create or a change.
    const instead = onPath<readonly string[]>({ fast: [], session: ['replace'], records: ['replace'] });
    const never = [...Object.entries(kinds), ...compiled].filter(
      ([name, count]) => count === 0 && !instead.includes(name),
    );
    expect(never).to.deep.equal([]);
  });
});
