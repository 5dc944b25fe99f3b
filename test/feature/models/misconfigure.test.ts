/** Every mistake in a configuration: one error, when the application is built, that shows the fix. */
// @runs fast

import { Console } from 'node:console';
import { expect } from 'chai';
import express from 'express';
import { Get, JsonController, Req } from 'routing-controllers';
import { Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import winston from 'winston';
import { BULK_ENDPOINTS, ENDPOINTS, PAST_OF } from '../../../src/declare/endpoint.js';
import {
  type BootstrapOptions,
  bootstrap,
  type Class,
  ConfigError,
  Crud,
  type CrudOptions,
  crudController,
  crudRouter,
  disposeEngine,
  engineLifespan,
  type Logger,
  type ModelClass,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configError, configProblems } from '../../support/config-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { serveTestApp } from '../../support/test-app.js';

/** Options that TypeScript would refuse; JavaScript does not. */
function wrong(options: object): CrudOptions {
  return options as CrudOptions;
}

@Crud()
@Table({ tableName: 'fine', timestamps: false })
class Fine extends NumberedRow {
  @Column(DataType.STRING(20)) declare name: string | null;
  @Column(DataType.JSONB) declare extra: unknown;
}

@Crud(wrong({ prefix: '/fines', endpoints: ['list', 'raed'], sortAllow: ['nmae'], nothing: true }))
@Table({ tableName: 'mistyped', timestamps: false })
class Mistyped extends NumberedRow {
  @Column(DataType.STRING(20)) declare name: string | null;
}

@Crud()
@Table({ tableName: 'keyless', timestamps: false })
class Keyless extends Model {
  @Column(DataType.STRING(20)) declare name: string | null;
}

@Crud()
@Table({ tableName: 'pairs', timestamps: false })
class Pair extends Model {
  @ForeignKey(() => Fine) @PrimaryKey @Column(DataType.INTEGER) declare leftId: number;
  @ForeignKey(() => Mistyped) @PrimaryKey @Column(DataType.INTEGER) declare rightId: number;
}

@Crud()
@Table({ tableName: 'shadows', timestamps: false })
class Shadow extends NumberedRow {
  @Column(DataType.STRING(20)) name?: string = undefined;
}

@Crud()
@Table({ tableName: 'unattached', timestamps: false })
class Unattached extends Model {}

@Table({ tableName: 'undecorated', timestamps: false })
class Undecorated extends NumberedRow {}

@Crud()
@Crud()
@Table({ tableName: 'twice', timestamps: false })
class Twice extends NumberedRow {}

class NoDecorators {
  name = 1;
}

const CRUD_OPTIONS =
  'prefix, tags, description, endpoints, readOnly, only, pagination, pageSize, count, filterAllow, sortAllow, defaultSort, readSchema, createSchema, updateSchema, dependencies, id, idType, unknownQuery, etag, ifMatch, include, subresources, scope, visible, can, fields, set, search, softDelete, sentBack, increment, links, bulk, aggregate, export, upsert, import, nested, history, changes';

describe('misconfiguring', () => {
  const site = serveTestApp(() => ({
    models: [Fine, Mistyped, Keyless, Pair, Shadow, Undecorated, Twice],
    bootstrap: { models: [] },
    engine: { createAll: false },
  }));

  const problemsOf = (options: BootstrapOptions) => configProblems(() => buildApp(options));

  before(async () => {
    // Sequelize adds a primary key of its own where there is none.
    Keyless.removeAttribute('id');
  });

  it('tells everything that is wrong at once', async () => {
    class One extends crudController(Fine) {}
    class Two extends crudController(Fine) {}
    class Stray {}
    const options = {
      models: [Mistyped, Fine, Keyless, Pair, Shadow, Unattached, Undecorated, Twice],
      controllers: [One, Two, Stray],
      routePrefix: 'api',
      bodyLimit: '10k',
      docz: false,
      logger: { error() {}, log() {} },
    } as unknown as BootstrapOptions;
    expect(await problemsOf(options)).to.deep.equal([
      "bootstrap has no option 'docz'. Did you mean 'docs'? The options are models, controllers, routePrefix, bodyLimit, cursorSecret, fastPath, logger, routing, scope, can, deny, rls, problem, idempotency, history, changes, health, docs, notFound, landing, indexAdvice, strictTypes, accessLog, serverTiming, metrics.",
      'Undecorated is in models but has no @Crud; decorate it or leave it out.',
      'routePrefix "api" is not a plain path; use one such as \'/api\'.',
      'bodyLimit is "10k"; use a number of bytes from 1, or a text such as \'100kb\'.',
      'logger has no method debug, info, warn; use that of pino, winston or bunyan, console, or an object with debug, info, warn and error.',
      'Twice has @Crud twice; merge them into one.',
      'One and Two both extend the controller of Fine; pass one.',
      'Stray is in controllers but is none; give it @JsonController, or extend crudController(Model).',
      `Mistyped: @Crud has no option 'nothing'. The options are ${CRUD_OPTIONS}.`,
      `Mistyped: endpoints has "raed"; use ${[...ENDPOINTS, ...BULK_ENDPOINTS, ...Object.keys(PAST_OF), 'changes'].map((name) => `'${name}'`).join(', ')}. Did you mean 'read'?`,
      "Mistyped: sortAllow names 'nmae', which is not an attribute. Did you mean 'name'? The attributes are id, name.",
      "Keyless: no attributes tell its rows apart, so that no path can address one; name attributes whose values together are unique and not null with id: [...], or leave out what needs an id: endpoints: ['list', 'create'].",
      'Keyless: no attributes tell its rows apart, so that its list has no order; give it a defaultSort, or name them with id.',
      "Shadow.name is a class field that hides the attribute's accessor; write `declare name: …` instead of `name!: …`.",
      "Unattached is not attached to a Sequelize instance; list it in the engine's models, or in new Sequelize({ models: [...] }), before bootstrap is called.",
      "Fine and Mistyped are both on '/fines'; give one of them another prefix.",
    ]);
  });

  describe('a logger', () => {
    const { debug, info, error } = new Console(process.stderr);
    const LOGGERS: readonly (readonly [logger: unknown, problem: RegExp])[] = [
      [
        {},
        /^logger has no method debug, info, warn, error; .+ an object with debug, info, warn and error\.$/,
      ],
      [{ debug, info, error }, /^logger has no method warn; /],
      [{ debug, info, error, warn: true }, /^logger has no method warn; /],
      [winston.createLogger({ levels: winston.config.syslog.levels }), /^logger has no method warn; /],
      [null, /^logger is null; /],
      ['pino', /^logger is "pino"; /],
    ];

    for (const [logger, problem] of LOGGERS) {
      it(`without a method that lines are written with is refused: ${problem}`, async () => {
        const given = { logger } as { logger: Logger };
        let hasBegun = false;
        const begin = async () => {
          hasBegun = true;
        };
        for (const work of [
          () => buildApp({ models: [Fine], ...given }),
          async () => crudRouter(Fine, given),
          () => unitOfWork(begin, { ...given, engine: site.engine }),
        ]) {
          const problems = await configProblems(work);
          expect(problems).to.have.length(1);
          expect(problems[0]).to.match(problem);
        }
        expect(hasBegun).to.equal(false);
      });
    }
  });

  it('takes a class with methods of its own for a logger', async () => {
    const none = () => {};
    const Log = Object.assign(class {}, { debug: none, info: none, warn: none, error: none });
    const { crud } = await buildApp({ models: [], logger: Log });
    expect(crud.routes).to.deep.equal([]);
  });

  it('says it in one message, a line for each', async () => {
    const failure = await buildApp({ models: [Keyless, Unattached] }).catch((error: unknown) => error);
    expect(String(failure)).to.match(
      /^ConfigError: 3 problems:\n(?: {2}- Keyless: .+\n){2} {2}- Unattached is .+$/,
    );
  });

  it('mounts nothing', async () => {
    const { app, agent } = await buildApp({ models: [] });
    await bootstrap(app, { models: [Fine, Mistyped] }).catch(() => {});
    expect((await agent.get('/fines')).status).to.equal(404);
  });

  describe('paths', () => {
    it('may not be shared by two models, whatever their letters', async () => {
      class Fines extends crudController(Fine, { prefix: '/Same' }) {}
      class Undecorateds extends crudController(Undecorated, { prefix: '/same' }) {}
      expect(await problemsOf({ models: [], controllers: [Fines, Undecorateds] })).to.deep.equal([
        "Undecorated and Fine are both on '/same'; give one of them another prefix.",
      ]);
    });

    it('may not be shared by two routes of a controller', async () => {
      class Fines extends crudController(Fine) {
        @Get('/')
        all(): object {
          return {};
        }
      }
      expect(await problemsOf({ models: [Fine], controllers: [Fines] })).to.deep.equal([
        "Fine: 'all' and 'list' both answer GET /fines; give one another path.",
      ]);
    });
  });

  describe('an override of read', () => {
    const advice =
      'write read(id, query, context), with parameters of its own behind them. The query has come between the id and the ' +
      'context.';

    it('may not take the context, or a parameter of its own, for the query', async () => {
      class Short extends crudController(Fine) {}
      // TypeScript refuses it; JavaScript does not.
      Object.assign(Short.prototype, { read: (_id: unknown, _context: unknown) => ({}) });
      class Own extends crudController(Fine) {
        override async read(_id: unknown, _context: unknown, @Req() _request?: unknown): Promise<Fine> {
          return new Fine();
        }
      }
      for (const controller of [Short, Own])
        expect(await problemsOf({ models: [Fine], controllers: [controller] })).to.deep.equal([
          `${controller.name} overrides read without the parameter context; ${advice}`,
        ]);
    });

    it('may take fewer parameters, all of them as one, or others in their places', async () => {
      for (const read of [async (_id: unknown) => ({}), async (..._all: unknown[]) => ({})]) {
        class Fines extends crudController(Fine) {}
        Object.assign(Fines.prototype, { read });
        await buildApp({ models: [Fine], controllers: [Fines], logger: new CapturedLog() });
      }
      class Fines extends crudController(Fine) {
        override async read(_id: unknown, @Req() _request: unknown): Promise<Fine> {
          return new Fine();
        }
      }
      await buildApp({ models: [Fine], controllers: [Fines], logger: new CapturedLog() });
    });
  });

  describe('bootstrap', () => {
    it('may not be called twice on one application', async () => {
      const { app } = await buildApp({ models: [Fine], logger: new CapturedLog() });
      expect(await configError(() => bootstrap(app, { models: [Fine] }))).to.include(
        'bootstrap was called on this application before, and serves GET /fines already; call it',
      );
    });

    describe('without a model', () => {
      useEmptyRegistry();

      it('is refused, unless none is meant', async () => {
        expect(await problemsOf({})).to.deep.equal([
          'No class has @Crud, so there is nothing to serve; import the modules of the models before bootstrap is called, ' +
            'or pass models: [] where none is meant.',
        ]);
        expect((await buildApp({ models: [] })).crud.routes).to.deep.equal([]);
      });

      it('serves hand-written controllers', async () => {
        @JsonController('/greetings')
        class Greetings {
          @Get('/')
          greet(): object {
            return { hello: 'world' };
          }
        }
        const { agent } = await buildApp({ controllers: [Greetings] });
        expect((await agent.get('/greetings')).body).to.deep.equal({ hello: 'world' });
      });
    });
  });

  it('refuses a fastPath that is no flag, such as a text of the environment, which would leave it on', async () => {
    const given = { fastPath: 'false' } as unknown as { fastPath: boolean };
    const problems = ['fastPath is "false"; use true or false.'];
    expect(await problemsOf({ models: [Fine], ...given })).to.deep.equal(problems);
    expect(await configProblems(async () => crudRouter(Fine, given))).to.deep.equal(problems);
  });

  it('the lists of bootstrap may not hold what is no model or no controller', async () => {
    const options = {
      models: [undefined, NoDecorators] as unknown as ModelClass[],
      controllers: [5, undefined] as unknown as Class[],
    };
    expect(await problemsOf(options)).to.deep.equal([
      'undefined is in models but has no @Crud; decorate it or leave it out.',
      'NoDecorators is in models but has no @Crud; decorate it or leave it out.',
      '5 is in controllers but is none; give it @JsonController, or extend crudController(Model).',
      'undefined is in controllers but is none; give it @JsonController, or extend crudController(Model).',
    ]);
  });

  it('a path is no class, and no object of options', async () => {
    const lists = { models: ['./models/*.js'], controllers: ['./controllers/*.js'] } as object;
    expect(await problemsOf(lists)).to.deep.equal([
      'models has the text "./models/*.js"; import the classes and list these, as no file is loaded.',
      'controllers has the text "./controllers/*.js"; import the classes and list these, as no file is loaded.',
    ]);
    const paths = { models: [Fine], health: '/healthz', docs: '/api-docs' } as object;
    expect(await problemsOf(paths)).to.deep.equal([
      'health is "/healthz"; use an object such as { prefix: \'/healthz\' }, or false.',
      'docs is "/api-docs"; use an object such as { path: \'/api-docs\' }, or false.',
    ]);
    expect(await configProblems(() => bootstrap(express(), null as never))).to.deep.equal([
      'The second argument of bootstrap is null; use an object of options, or leave it out.',
    ]);
  });

  it('a path of a controller begins with a slash, for routing-controllers joins it as it is', async () => {
    class Fines extends crudController(Fine) {
      @Get('export') export() {}
      @Get('/:id/file') file() {}
    }
    @JsonController('login')
    class Login {}
    expect(await problemsOf({ models: [Fine], controllers: [Fines, Login] })).to.deep.equal([
      "Fines.export has the path 'export', which does not begin with a slash; write '/export'.",
      "Login has the path 'login', which does not begin with a slash; write '/login'.",
    ]);
  });

  it('is one line where no engine was called', async () => {
    await disposeEngine();
    @Crud()
    @Table({ tableName: 'alone', timestamps: false })
    class Alone extends Model {}
    void engineLifespan('postgres://localhost/never', { models: [Alone, Unattached] });
    expect(await problemsOf({ models: [Alone, Unattached] })).to.deep.equal([
      'No engine is in use, so there is no database for Alone, Unattached; write await engineLifespan(dsn)(app) before ' +
        'bootstrap (without the second call, (app), nothing is connected), or attach them to a Sequelize instance of yours.',
    ]);
  });

  it('is told by crudController at once where the source is none', () => {
    const nothing = NoDecorators as unknown as typeof Fine;
    expect(() => crudController(nothing)).to.throw(
      ConfigError,
      'Expected a model class, a Repository or a subclass of Repository; got the class NoDecorators.',
    );
  });
});
