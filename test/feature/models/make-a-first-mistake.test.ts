/** Mistakes in a first application: each message names the mistake, its place, and how to mend it. */
import { expect } from 'chai';
import { transformSync } from 'esbuild';
import express from 'express';
import { Get, getMetadataArgsStorage, JsonController, OnUndefined, Post } from 'routing-controllers';
import { Model as PlainModel } from 'sequelize';
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  Table,
} from 'sequelize-typescript';
import {
  bootstrap,
  ConfigError,
  Crud,
  type CrudContext,
  crudController,
  engineLifespan,
  filter,
  InjectUnitOfWork,
  type ModelClass,
  type UnitOfWork,
} from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, onPath } from '../../support/combination.js';
import { configError, configProblems } from '../../support/config-error.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'apples', timestamps: false })
class Apple extends Model {
  @Column(DataType.TEXT) declare name: string | null;
}

@Crud()
@Table({ tableName: 'pears', timestamps: false })
class Pear extends Model {
  @Column(DataType.TEXT) declare name: string | null;
}

type Context = CrudContext<Apple>;

/** Interceptors run after the commit. */
const NOTHING = onPath({
  fast: ' returned nothing, and what its unit of work has written is rolled back;',
  values: ' or an interceptor returned nothing, and what the request has written stays;',
});

class Apples extends crudController(Apple) {
  static forgotten: 'none' | 'super' | 'repository' = 'none';

  override async create(values: object, context: Context): Promise<Apple> {
    const made = await super.create(values, context);
    if (Apples.forgotten === 'repository') void context.repository.create({ name: 'another' });
    return made;
  }

  override async remove(id: number, context: Context): Promise<void> {
    const promise = super.remove(id, context);
    if (Apples.forgotten !== 'super') await promise;
  }

  override async update(id: number, values: object, context: Context): Promise<Apple> {
    await super.update(id, values, context);
    return undefined as unknown as Apple;
  }

  @Post('/touch')
  async touch(@InjectUnitOfWork() unit: UnitOfWork): Promise<void> {
    await unit.repository(Apple).create({ name: 'touched' });
  }

  @Post('/apart')
  async apart(@InjectUnitOfWork() unit: UnitOfWork): Promise<object> {
    void unit.savepoint(async () => {
      await unit.repository(Apple).create({ name: 'apart' });
    });
    return {};
  }

  @Get('/nothing')
  nothing(): void {}

  @Get('/circle')
  circle(): object {
    const tree: Record<string, unknown> = { name: 'tree' };
    return Object.assign(tree, { branches: [{ same: {} }, { of: tree }], twice: [{}, tree.name] });
  }

  @Get('/text')
  text(): never {
    throw 'the tree has fallen';
  }

  @Get('/object')
  object(): never {
    throw { code: 7, secret: 'the tree' };
  }
}

@JsonController('/own')
class Own {
  @Post('/nothing')
  nothing(): void {}

  @Post('/meant')
  @OnUndefined(204)
  meant(): void {}
}

describe('a first mistake', () => {
  const site = serveTestApp(() => ({
    models: [Apple, Pear],
    bootstrap: { models: [Apple], controllers: [Apples, Own], logger, indexAdvice: false },
  }));
  const logger = new CapturedLog();

  beforeEach(() => {
    Apples.forgotten = 'none';
  });

  afterEach(async () => {
    logger.clear();
    await Apple.truncate({ restartIdentity: true });
  });

  const names = async () => (await Apple.findAll({ order: ['id'] })).map(({ name }) => name);
  const told = () => logger.lines.map(({ level, message }) => `${level} ${message}`);

  it('[U10] of a model that is not in the option models is told at the start', async () => {
    const line =
      'Pear has @Crud and no routes, as the option models of bootstrap lacks it; add it there, or remove the decorator.';
    const log = new CapturedLog();
    await buildApp({ models: [Apple], logger: log });
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([`warn ${line}`]);
    const both = new CapturedLog();
    await buildApp({ models: [Apple, Pear], logger: both });
    expect(both.lines).to.deep.equal([]);
    // It has routes now, of another application.
    await buildApp({ models: [Apple], logger: both });
    expect(both.lines).to.deep.equal([]);
  });

  for (const [method, path, name] of [
    ['POST', '/apples/touch', 'Apples.touch'],
    ['GET', '/apples/nothing', 'Apples.nothing'],
    ['POST', '/own/nothing', 'Own.nothing'],
  ] as const) {
    it(`of ${name}, which returns nothing, is told once with the route and the mend`, async () => {
      const send = () => site.agent[method === 'GET' ? 'get' : 'post'](path);
      expectProblem(await send(), 404, { detail: 'Not Found' });
      expectProblem(await send(), 404, { detail: 'Not Found' });
      expect(told()).to.deep.equal([
        `warn ${method} ${path} is answered with 404, as ${name}${NOTHING} return a value, or the response where ${name.split('.')[1]} answers by itself, or put @OnUndefined(204) on it, or ` +
          '@OnUndefined(404) where that is meant.',
      ]);
      const kept = onPath({ fast: [], values: name === 'Apples.touch' ? ['touched', 'touched'] : [] });
      expect(await names()).to.deep.equal(kept);
    });
  }

  it('[U10] of decorators of ECMAScript is told at the class, and at the start', async () => {
    const run = (source: string) => {
      const { code } = transformSync(source, { loader: 'ts', target: 'es2022' });
      const base = source.includes('Crud') ? Model : crudController(Apple);
      new Function('Crud', 'Get', 'Base', code)(Crud, Get, base);
    };
    const told =
      /is compiled as a decorator of ECMAScript, .*set "experimentalDecorators": true in tsconfig\.json for tsc, /;
    expect(() => run('@Crud() class Fig extends Base {}')).to.throw(ConfigError, told);
    const bare = () => run('@Crud class Fig extends Base {}');
    expect(bare).to.throw(ConfigError, 'Fig has @Crud without parentheses;');
    const { actions } = getMetadataArgsStorage();
    run("class Figs extends Base { @Get('/ripe') ripe() {} }");
    try {
      const options = { models: [Pear], logger: new CapturedLog() };
      const problems = await configProblems(() => bootstrap(express(), options));
      expect(problems).to.have.lengthOf(1);
      expect(problems[0]).to.match(told);
    } finally {
      actions.pop();
    }
  });

  it('is none where nothing is meant', async () => {
    expect((await site.agent.post('/own/meant')).status).to.equal(204);
    expect(told()).to.deep.equal([]);
  });

  it('of an override of update that returns nothing is told, and undone', async () => {
    await Apple.create({ name: 'A' });
    const answer = await site.agent.patch('/apples/1').send({ name: 'B' });
    expectProblem(answer, 404, { detail: 'There is no such Apple.' });
    expect(told()).to.deep.equal([
      'warn PATCH /apples/:id is answered with 404, as Apples.update returned nothing, and what it has written is rolled back; return ' +
        'what super.update gives, or null where there is no such record.',
    ]);
    expect(await names()).to.deep.equal(['A']);
  });

  it('of an answer inside itself is told with the way to it', async () => {
    expectProblem(await site.agent.get('/apples/circle'), 500, { detail: 'Internal Server Error' });
    const [line] = logger.lines;
    expect(line?.message).to.equal('GET /apples/circle failed');
    expect(String(line?.details['stack']).split('\n')[0]).to.equal(
      "TypeError: An answer leads back to itself at 'branches.1.of', so that JSON has no form for it; leave that out by @Exclude(), or " +
        'return a copy without it.',
    );
  });

  it('of a thrown text is told with the text', async () => {
    expectProblem(await site.agent.get('/apples/text'), 500, { detail: 'Internal Server Error' });
    const [line] = logger.lines;
    expect(line?.details['stack']).to.match(
      /^TypeError: A controller threw the text "the tree has fallen", which is no error; throw new Error\(…\)\.\n/,
    );
  });

  it('of a thrown object without a message is told with its names, and no value of it', async () => {
    expectProblem(await site.agent.get('/apples/object'), 500, { detail: 'Internal Server Error' });
    expect(logger.lines.map(({ details }) => details['thrown'])).to.deep.equal([
      'an object with the properties "code, secret", which is no error; throw new Error(…)',
    ]);
  });

  const unawaited = except({ unit: 'its unit ends behind the answer, when no call is under way any more' });

  unawaited.describe('[U10] of an await that was forgotten', () => {
    const held = (method: string, call: string) =>
      `error Apples.${method} returned while ${call} of Apple was under way, and is held until that has ended; put await before the call.`;

    it('before super is told, and the request waits for it', async () => {
      await Apple.create({ name: 'A' });
      Apples.forgotten = 'super';
      expect((await site.agent.delete('/apples/1')).status).to.equal(204);
      expect(told()).to.deep.equal([held('remove', 'delete')]);
      expect(await names()).to.deep.equal([]);
    });

    it('before a call of the repository is told, and what it writes is committed along', async () => {
      Apples.forgotten = 'repository';
      expect((await site.agent.post('/apples').send({ name: 'A' })).status).to.equal(201);
      expect(told()).to.deep.equal([held('create', 'create')]);
      expect(await names()).to.deep.equal(['A', 'another']);
    });
  });

  unawaited.it(
    '[U10] of an await that was forgotten before a savepoint is told, and what that writes is committed along',
    async () => {
      expect((await site.agent.post('/apples/apart')).status).to.equal(200);
      expect(told()).to.deep.equal([
        'error Apples.apart returned while a savepoint was under way, and is held until that has ended; put await before the call.',
      ]);
      expect(await names()).to.deep.equal(['apart']);
    },
  );

  describe('in a rule', () => {
    const built = (visible: () => unknown) => {
      const controllers = [class extends crudController(Pear, { visible } as object) {}];
      return buildApp({ models: [], controllers, logger: new CapturedLog() });
    };

    it('of a misspelt attribute, or of no filter, is refused at the start', async () => {
      expect(await configError(() => built(() => filter`nmae==${'x'}`))).to.equal(
        "Pear: visible names 'nmae', which is not an attribute. Did you mean 'name'? The attributes are id, name.",
      );
      expect(await configError(() => built(() => filter`name=~${'x'}`))).to.match(
        /^Pear: visible has the filter 'name=~\$\{.*\}', which cannot be read: Unexpected '~' at position 5; /,
      );
    });

    it('of an operation, that is misspelt, is refused at the start, also in bootstrap', async () => {
      const can = { update: () => filter`nmae==${'x'}` };
      const controllers = [class extends crudController(Pear, { can }) {}];
      const logger = new CapturedLog();
      for (const options of [{ controllers }, { controllers: [class extends crudController(Pear) {}], can }])
        expect(await configError(() => buildApp({ models: [], logger, ...options }))).to.match(
          /^Pear: can.update names 'nmae', which is not an attribute. Did you mean 'name'\?/,
        );
    });

    it('that the start cannot see is told with the attribute and the names there are', async () => {
      const hidden = filter`nmae==x`;
      const log = new CapturedLog();
      const controller = class extends crudController(Pear, { visible: () => hidden } as object) {};
      const { agent } = await buildApp({ models: [], controllers: [controller], logger: log });
      expectProblem(await agent.get('/pears'), 500, { detail: 'Internal Server Error' });
      expect(String(log.lines[0]?.details['stack']).split('\n')[0]).to.equal(
        "TypeError: visible of Pear gave the filter 'nmae==x', which is wrong: Cannot filter by 'nmae'. Did you mean 'name'? Filterable: id, name.",
      );
    });
  });

  describe('in the models of an engine', () => {
    @Table({ tableName: 'lines' })
    class Line extends Model {
      @ForeignKey(() => Order) @Column(DataType.INTEGER) declare orderId: number;
      @BelongsTo(() => Order) declare order?: object;
    }

    @Table({ tableName: 'orders' })
    class Order extends Model {
      @HasMany(() => Line) declare lines?: object[];
    }

    @Table({ tableName: 'carts' })
    class Cart extends Model {
      @BelongsToMany(() => Order, { through: { model: () => Line }, foreignKey: 'a', otherKey: 'b' })
      declare orders?: object[];
    }

    @Table({ tableName: 'keyless' })
    class Keyless extends Model {
      @HasMany(() => Order) declare orders?: object[];
    }

    @Table({ tableName: 'early' })
    class Early extends Model {
      @HasMany(() => undefined as never, 'earlyId') declare others?: object[];
    }

    @Table({ tableName: 'others', modelName: 'Order' })
    class Other extends Model {}

    // TypeScript refuses these classes, and JavaScript does not.
    class Forgotten {}
    Crud()(Forgotten as unknown as ModelClass);
    class Bare extends Model {}
    class Foreign extends PlainModel {}

    const MODEL = "import { Model } from 'sequelize-typescript'";
    const LOADED = 'which a class is as long as a circular import loads it';
    for (const [models, ...problems] of [
      [
        [Order, Cart],
        ...['Order.lines leads to Line', 'Cart.orders leads to Line'].map(
          (start) =>
            `${start}, which is not in the engine; add Line to the models of engineLifespan, or remove the association.`,
        ),
      ],
      [[Forgotten], `Forgotten is no model; write class Forgotten extends Model, with ${MODEL}.`],
      [
        [Foreign],
        `Foreign extends the Model of 'sequelize'; write class Foreign extends Model, with ${MODEL}.`,
      ],
      [[Bare], 'Bare has no @Table; put it on the class.'],
      [[undefined], `The engine option models has undefined, ${LOADED}; use model classes.`],
      [[Early], `Early.others leads to undefined, ${LOADED}; write a function that gives a model class.`],
      [
        [Order, Line, Keyless],
        'Order has no foreign key to Keyless, and an association between both needs one; put @ForeignKey(() => Keyless) on an attribute ' +
          'of Order, or name the attribute as the second argument of the association.',
      ],
      [
        [Order, Line, Other],
        'Two models of the engine are called Order; give one of them another modelName in @Table, or another class name.',
      ],
      [
        Apple,
        /^The engine option models is \[class Apple extends Model\].*; use an array of model classes\.$/,
      ],
      [
        [`${__dirname}/none`],
        `The engine option models has the path '${__dirname}/none', where there is no file of a model.`,
      ],
    ] as const) {
      it(`is told: ${problems[0]}`, async () => {
        const start = engineLifespan('postgres://nobody:x@127.0.0.1:1/none', { models: models as never });
        const found = await configProblems(() => start());
        expect(found.length).to.equal(problems.length);
        for (const [index, problem] of problems.entries()) {
          if (typeof problem === 'string') expect(found[index]).to.equal(problem);
          else expect(found[index]).to.match(problem);
        }
      });
    }

    it('is named by bootstrap, too', async () => {
      const start = () => bootstrap(site.app, { models: [Forgotten as unknown as ModelClass] });
      expect(await configError(start)).to.match(
        /^Forgotten has @Crud and is no model; write class Forgotten extends Model, with /,
      );
    });
  });

  for (const [label, start, message] of [
    [
      'an application',
      () => bootstrap({ models: [Apple] } as never),
      /^bootstrap got \{ models: \[Array\] \} as its application; pass it what express\(\) gives\.$/,
    ],
    [
      'a list of models',
      () => bootstrap(site.app, { models: Apple as never }),
      /; use an array of model classes\.$/,
    ],
    [
      'a list of controllers',
      () => bootstrap(site.app, { models: [], controllers: Own as never }),
      /^controllers is \[class Own\]; use an array of classes\.$/,
    ],
  ] as const) {
    it(`in the place of ${label} is named`, async () =>
      expect(await configError(start as () => unknown)).to.match(message));
  }
});
