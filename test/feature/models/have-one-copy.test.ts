/** Packages that are twice in the tree: the decorators of both are found, or the start is refused. */
// @runs fast

import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type * as Transformer from 'class-transformer';
import type * as Validator from 'class-validator';
import { Allow, IsEmail } from 'class-validator';
import express from 'express';
import { Body, Get, JsonController, Post } from 'routing-controllers';
import { Column, DataType, Model, type ModelCtor, Sequelize, Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  bootstrap,
  Crud,
  engineLifespan,
  type ModelClass,
} from '../../../src/index.js';
import { tryRun } from '../../package/run.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { COMPILED_SOURCE, PACKAGE_ROOT } from '../../support/package-root.js';
import { freshDatabase } from '../../support/postgres.js';
import { createTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

const refusal = (options: BootstrapOptions) =>
  configProblems(() => bootstrap(express(), { logger: new CapturedLog(), ...options }));

describe('a second copy', () => {
  let folder: TemporaryFolder;

  /** Loads a package from a folder of its own, as npm nests it below a package of a monorepo. */
  function copyOf(name: string): unknown {
    const from = dirname(require.resolve(`${name}/package.json`));
    const modules = join(folder.path, 'node_modules');
    mkdirSync(modules, { recursive: true });
    const filter = (file: string) => !/[\\/](?:esm\w*|bundles|types)$|\.map$/.test(file.slice(from.length));
    cpSync(from, join(modules, name), { recursive: true, dereference: true, filter });
    const { dependencies = {} } = require(join(from, 'package.json')) as { dependencies?: object };
    for (const each of Object.keys(dependencies).filter((one) => !one.startsWith('@')))
      symlinkSync(dirname(require.resolve(`${each}/package.json`)), join(modules, each));
    return createRequire(join(folder.path, 'index.js'))(name);
  }

  before(async () => {
    folder = await createTemporaryFolder('copies');
  });
  after(() => {
    for (const file of Object.keys(require.cache))
      if (file.startsWith(folder.path)) delete require.cache[file];
    folder.remove();
  });

  describe('of class-transformer', () => {
    let copy: typeof Transformer;
    const problemOf = (name: string) =>
      `${name} has decorators of another copy of class-transformer, so its @Exclude() would hide nothing: they are of ` +
      `${join(folder.path, 'node_modules', 'class-transformer')}, and crud-controllers reads those of ` +
      `${dirname(require.resolve('class-transformer/package.json'))}. Have one copy: npm ls class-transformer names what needs ` +
      'which, npm dedupe removes what is not needed, and "overrides": { "class-transformer": "$class-transformer" } in ' +
      'package.json removes the rest.';

    abstract class Secretive extends Model {
      @Column(DataType.TEXT) declare secret: string | null;
    }

    @Crud()
    @Table({ tableName: 'heirs', timestamps: false })
    class Heir extends Secretive {}

    @Crud()
    @Table({ tableName: 'members', timestamps: false })
    class Member extends Model {
      @Column(DataType.TEXT) declare email: string | null;
      @Column(DataType.TEXT) declare role: string | null;
    }

    @Crud()
    @Table({ tableName: 'plain_members', timestamps: false })
    class Plain extends Model {
      @Column(DataType.TEXT) declare email: string | null;
    }

    /** No route serves it. */
    @Table({ tableName: 'unserved', timestamps: false })
    class Unserved extends Secretive {}

    class Form {
      @Allow() email!: string;
      @Allow() role!: string;
    }

    @Crud({ createSchema: Form } as object)
    @Table({ tableName: 'formed', timestamps: false })
    class Formed extends Model {
      @Column(DataType.TEXT) declare email: string | null;
    }

    class Shown {
      constructor(readonly secret: string) {}
    }

    @JsonController('/forms')
    class FormController {
      @Post()
      post(@Body() form: Form) {
        return form;
      }
    }

    @JsonController('/shown')
    class ShownController {
      @Get()
      get() {
        return [new Shown('x')];
      }

      @Get('/records')
      records() {
        return { records: [Unserved.build({ secret: 'x' })] };
      }
    }

    serveTestApp(() => ({
      models: [Formed, Heir, Member, Plain, Unserved],
      bootstrap: { models: [Plain], logger: new CapturedLog() },
    }));
    before(() => {
      copy = copyOf('class-transformer') as typeof Transformer;
      copy.Exclude()(Member.prototype, 'role');
      copy.Exclude()(Form.prototype, 'role');
      copy.Expose()(Secretive.prototype, 'secret');
    });

    it('is nothing to a model that another one has not decorated', async () => {
      const { agent } = await buildApp({ models: [Plain], logger: new CapturedLog() });
      expect((await agent.post('/plains').send({ email: 'a' })).body).to.deep.equal({ id: 1, email: 'a' });
    });

    for (const [what, options, name] of [
      ['a model', { models: [Member, Plain] }, 'Member'],
      ['a class that a model extends', { models: [Heir] }, 'Heir'],
      ['the class of a body', { models: [Plain], controllers: [FormController] }, 'Form'],
      ['a schema', { models: [Formed] }, 'Form'],
    ] as const) {
      it(`[U8] is refused where it has decorated ${what}`, async () =>
        expect(await refusal(options)).to.deep.equal([problemOf(name)]));
    }

    it('answers no record or object that it has decorated', async () => {
      const logger = new CapturedLog();
      const { agent } = await buildApp({ models: [Plain], controllers: [ShownController], logger });
      expect((await agent.get('/shown')).body).to.deep.equal([{ secret: 'x' }]);
      copy.Exclude()(Shown.prototype, 'secret');
      copy.Exclude()(Unserved.prototype, 'secret');
      for (const path of ['/shown', '/shown/records'])
        expectProblem(await agent.get(path), 500, { detail: 'Internal Server Error' });
    });
  });

  it('[U8] of crud-controllers is named where a controller extends it', async () => {
    const place = join(folder.path, 'crud');
    cpSync(COMPILED_SOURCE, join(place, 'dist/src'), { recursive: true });
    symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(place, 'node_modules'), 'junction');
    const index = join(COMPILED_SOURCE, 'index.js');
    const loaded = Object.entries(require.cache).filter(([file]) => file.startsWith(COMPILED_SOURCE));

    @Table({ tableName: 'guests', timestamps: false })
    class Guest extends Model {}
    const controllerOf = (file: string) => {
      const { crudController } = require(file) as typeof import('../../../src/index.js');
      class GuestController extends crudController(Guest) {}
      JsonController('/guests')(GuestController);
      return GuestController;
    };
    const other = controllerOf(join(place, 'dist/src/index.js'));
    const file = join(place, 'guests.cjs');
    writeFileSync(
      file,
      `const { Model, Table } = require('sequelize-typescript');
class Guest extends Model {}
Table({ tableName: 'guests', timestamps: false })(Guest);
class GuestController extends require('./dist/src/index.js').crudController(Guest) {}
exports.GuestController = GuestController;
`,
    );
    const command = [join(COMPILED_SOURCE, 'command-line.js'), 'routes', file];
    expect((await tryRun(process.execPath, command, place)).everything).to.match(
      /^GuestController extends crudController of another copy of crud-controllers: /,
    );
    for (const [file] of loaded) delete require.cache[file];
    const again = controllerOf(index);
    Object.assign(require.cache, Object.fromEntries(loaded));
    expect(await refusal({ models: [], controllers: [other, again] })).to.deep.equal([
      `GuestController extends crudController of another copy of crud-controllers: that of ${place}, and bootstrap is that of ` +
        `${PACKAGE_ROOT}. Have one copy: npm ls crud-controllers names what needs which, npm dedupe removes what is not needed.`,
      `GuestController extends crudController of crud-controllers, which was loaded twice from ${PACKAGE_ROOT}, as by a test runner ` +
        'that resets its modules; import bootstrap and the controller behind the same reset.',
    ]);
  });

  it('of class-validator is found: its copies have one storage', async () => {
    const copy = copyOf('class-validator') as typeof Validator;
    expect(copy.IsEmail).to.not.equal(IsEmail);

    @Crud()
    @Table({ tableName: 'addresses', timestamps: false })
    class Address extends Model {
      @Column(DataType.TEXT) declare email: string | null;
    }
    copy.IsEmail()(Address.prototype, 'email');
    await using own = await startTestApp({ models: [Address], bootstrap: { logger: new CapturedLog() } });
    const detail = 'email must be an email.';
    const answer = await own.agent.post('/addresses').send({ email: 'none' });
    expectIssue(answer, 422, { pointer: '/email', code: 'isEmail', detail });
  });
});

describe('a model that was loaded again', () => {
  useEmptyRegistry();
  const folder = forSuite(() => createTemporaryFolder('reloaded'));

  /** Loads the module of a model, which the cache does not have. */
  function load(name: string, prefix?: string): ModelClass {
    const file = join(folder.path, name);
    writeFileSync(
      file,
      `const { Crud } = require(${JSON.stringify(join(COMPILED_SOURCE, 'index.js'))});
const { Model, Table } = require(${JSON.stringify(require.resolve('sequelize-typescript'))});
class Task extends Model {}
Table({ tableName: 'tasks', timestamps: false })(Task);
Crud(${JSON.stringify(prefix === undefined ? {} : { prefix })})(Task);
exports.Task = Task;
`,
    );
    delete require.cache[file];
    return require(file).Task;
  }

  it('takes the place of the one before, and the log says so', async () => {
    const first = load('task.js');
    const last = load('task.js');
    await using database = await freshDatabase();
    await using engine = await engineLifespan(database.url, { createAll: true })();
    expect([first.sequelize, last.sequelize]).to.deep.equal([undefined, engine.sequelize]);
    const logger = new CapturedLog();
    const { agent } = await buildApp({ logger });
    expect((await agent.post('/tasks').send({})).body).to.deep.equal({ id: 1 });
    expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      [
        'warn',
        `Task was declared again at ${join(folder.path, 'task.js')}:5:1, and the last class is served; list classes in models where ` +
          'another one is meant.',
      ],
    ]);
    // A test that has kept the class from before its reset names it.
    await engine[Symbol.asyncDispose]();
    await using own = await startTestApp({ models: [first], bootstrap: { logger: new CapturedLog() } });
    expect((await own.agent.get('/tasks')).body.total).to.equal(0);
  });

  it('is named with both places where they differ, and is another one under another prefix', async () => {
    const classes = [load('task.js'), load('copy.js'), load('task.js', '/others')];
    new Sequelize({ dialect: 'postgres' }).addModels(classes as ModelCtor[]);
    expect(await refusal({})).to.deep.equal([
      `Two models are called Task, both on '/tasks': that of ${join(folder.path, 'task.js')}:5:1 and that of ` +
        `${join(folder.path, 'copy.js')}:5:1; give one of the classes another name, or import it by one path where it is ` +
        'one class.',
    ]);
  });
});
