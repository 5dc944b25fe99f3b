/** A subclass of a generated controller that no application has: a warning names it, because its checks would not run. */
import { expect } from 'chai';
import { Authorized, Controller, Get, JsonController } from 'routing-controllers';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { type BootstrapOptions, type Class, Crud, crudController, crudRouter } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { useEmptyRegistry } from '../../support/empty-registry.js';
import { attach } from '../../support/offline-models.js';

/** A new model for each test, as calls for one are remembered for the rest of the process. */
function declarePaper() {
  @Crud()
  @Table({ tableName: 'papers', timestamps: false })
  class Paper extends Model {
    @PrimaryKey @AutoIncrement @Column(DataType.INTEGER) declare id: number;
  }
  return attach(Paper);
}

const NOTHING = 'what it checks and adds does nothing, and the generated routes are served';
const LIST = 'Or list the models that are meant in models.';

const GIVEN = 'the combination gives the application a controller, so that the other one is not missing';

describe('a forgotten subclass', () => {
  useEmptyRegistry();

  const problemsOf = (options: BootstrapOptions) => configProblems(() => buildApp(options));
  const warningsOf = async (options: BootstrapOptions): Promise<string[]> => {
    const logger = new CapturedLog();
    await buildApp({ ...options, logger });
    return logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  };

  it('is refused by name where every model is served and a decorator has left a trace of it', async () => {
    class Guarded extends crudController(declarePaper()) {
      @Authorized()
      override remove(): Promise<void> {
        return Promise.resolve();
      }
    }
    expect(await problemsOf({})).to.deep.equal([
      `Guarded extends crudController(Paper) and is not in controllers: ${NOTHING}; pass controllers: [Guarded]. ${LIST}`,
    ]);
    expect((await buildApp({ controllers: [Guarded] })).crud.routes).to.have.lengthOf(5);
  });

  it('is refused by the call that it is made with where there is no decorator', async () => {
    class Guarded extends crudController(declarePaper()) {
      override remove(): Promise<void> {
        throw new Error('never');
      }
    }
    expect(await problemsOf({})).to.deep.equal([
      `crudController(Paper) was called, and no controller that extends it is in controllers: ${NOTHING}; ` +
        `pass it in controllers. ${LIST}`,
    ]);
    expect((await buildApp({ controllers: [Guarded] })).crud.routes).to.have.lengthOf(5);
  });

  except({ session: GIVEN, records: GIVEN }).it(
    'is a warning where the models are listed, as another application may be given it',
    async () => {
      const Paper = declarePaper();
      class Guarded extends crudController(Paper) {
        @Get('/extra')
        extra(): object {
          return {};
        }
      }
      const models = [Paper];
      expect(await warningsOf({ models })).to.deep.equal([
        `Guarded extends crudController(Paper) and is not in controllers: ${NOTHING}; pass controllers: [Guarded].`,
      ]);
      expect(await warningsOf({ models, controllers: [Guarded] })).to.deep.equal([]);
      expect(await warningsOf({ models })).to.deep.equal([]);
    },
  );

  it('is none that a controller of an application extends', async () => {
    abstract class Base extends crudController(declarePaper()) {
      @Get('/extra')
      extra(): object {
        return {};
      }
    }
    class Papers extends Base {}
    await buildApp({ controllers: [Papers] });
    expect((await buildApp({})).crud.routes).to.have.lengthOf(5);
  });

  it('is none where only generated controllers were made', async () => {
    const Paper = declarePaper();
    await buildApp({});
    crudRouter(Paper);
    expect(await warningsOf({ models: [Paper] })).to.deep.equal([]);
  });

  for (const [name, decorate] of [
    ['@JsonController', JsonController],
    ['@Controller', Controller],
  ] as const) {
    it(`is told of a ${name} that would be ignored`, async () => {
      class Papers extends crudController(declarePaper()) {}
      decorate('/sheets')(Papers as Class);
      expect(await problemsOf({ controllers: [Papers] })).to.deep.equal([
        `Papers has ${name}, which is ignored where a generated controller is extended; remove it, and give the path ` +
          "as an option: { prefix: '/sheets' }.",
      ]);
    });
  }
});
