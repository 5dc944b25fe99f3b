/** Code of the user's that guards the rows of a model on their own routes would be bypassed: an include has to name its own rule. */
import { expect } from 'chai';
import {
  Authorized,
  Get,
  type InterceptorInterface,
  UseAfter,
  UseBefore,
  UseInterceptor,
} from 'routing-controllers';
import { Column, DataType, HasMany, Table } from 'sequelize-typescript';
import {
  type Class,
  Crud,
  type CrudContext,
  crudController,
  type Id,
  type ListQuery,
  type ModelClass,
  type ReadQuery,
  Repository,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Kept extends NumberedRow {
  @Column(DataType.INTEGER) declare houseId: number | null;
}

@Crud({ include: { pets: true } } as object)
@Table({ tableName: 'houses', timestamps: false })
class House extends Kept {
  @HasMany(() => Pet, { foreignKey: 'houseId', constraints: false }) declare pets?: unknown;
}

/** The same rows; the relation has its own rule. */
@Crud({ prefix: '/open-houses', include: { pets: { where: 'all' } } } as object)
@Table({ tableName: 'houses', timestamps: false })
class OpenHouse extends Kept {
  @HasMany(() => Pet, { foreignKey: 'houseId', constraints: false }) declare pets?: unknown;
}

@Crud()
@Table({ tableName: 'pets', timestamps: false })
class Pet extends Kept {}

class Stop implements InterceptorInterface {
  intercept(): unknown {
    return {};
  }
}
const pass = (_request: unknown, _response: unknown, next: () => void) => next();

class OwnPets extends Repository<Pet> {
  override delete(...args: Parameters<Repository<Pet>['delete']>) {
    return super.delete(...args);
  }
}

class ListsItself extends crudController(Pet) {
  override list(query: ListQuery, context: CrudContext<Pet>) {
    return super.list(query, context);
  }
}
class ReadsItself extends crudController(Pet) {
  override read(id: Id, query: ReadQuery, context: CrudContext<Pet>) {
    return super.read(id, query, context);
  }
}
class Inherits extends ListsItself {}
@UseBefore(pass)
class Before extends crudController(Pet) {}
class BeforeRead extends crudController(Pet) {
  @UseAfter(pass)
  override read(id: Id, query: ReadQuery, context: CrudContext<Pet>) {
    return super.read(id, query, context);
  }
}
@Authorized()
class Allowed extends crudController(Pet) {}
@UseInterceptor(Stop)
class Intercepted extends crudController(Pet) {}
class WithRepository extends crudController(new OwnPets(Pet)) {}

/** Code that has no part in the choice of rows. */
class Harmless extends crudController(Pet) {
  @Get('/of/me')
  @UseBefore(pass)
  mine(): object {
    return {};
  }

  @UseBefore(pass)
  override remove(id: Id, context: CrudContext<Pet>) {
    return super.remove(id, context);
  }
}

const GUARDS: readonly (readonly [Class, string])[] = [
  [ListsItself, 'ListsItself overrides list'],
  [ReadsItself, 'ReadsItself overrides read'],
  [Inherits, 'Inherits overrides list'],
  [Before, 'Before has middlewares or @Authorized'],
  [BeforeRead, 'BeforeRead overrides read, BeforeRead has middlewares or @Authorized'],
  [Allowed, 'Allowed has middlewares or @Authorized'],
  [Intercepted, 'Intercepted has interceptors'],
  [WithRepository, 'it has a repository of its own'],
];

except({
  session: 'the combination overrides each list and read',
  records: 'the combination overrides each list and read',
}).describe('[R17] including rows that code of the user guards', () => {
  serveTestApp(() => ({
    models: [House, OpenHouse, Pet] as unknown as ModelClass[],
    bootstrap: { models: [], logger: new CapturedLog() },
  }));

  before(async () => {
    await House.create({ id: 1, houseId: 1 });
    await Pet.create({ id: 1, houseId: 1 });
  });

  const build = (model: unknown, controller: Class) =>
    buildApp({
      models: [model, Pet] as ModelClass[],
      controllers: [controller],
      logger: new CapturedLog(),
      routing: { authorizationChecker: () => true },
    });

  for (const [controller, why] of GUARDS) {
    it(`is refused at start where ${why.replace(/^it/, 'the resource')}`, async () => {
      expect(await configError(() => build(House, controller))).to.equal(
        `House: include.pets would show what the routes of Pet may hide, because ${why}; give it where: a function of the ` +
          "request that says which rows may be seen here, or 'all'.",
      );
      const { agent } = await build(OpenHouse, controller);
      const { body } = await agent.get('/open-houses/1?include=pets').expect(200);
      expect(body.pets.items).to.deep.equal([{ id: 1, houseId: 1 }]);
    });
  }

  it('is refused at start where the rows are served within another scope', async () => {
    class Scoped extends crudController(Pet.scope({ where: { id: 2 } }) as typeof Pet) {}
    const bootstrap = (models: object[]) =>
      buildApp({
        models: models as ModelClass[],
        controllers: [Scoped],
        logger: new CapturedLog(),
      });
    expect(await configError(() => bootstrap([House]))).to.include(
      'because it is served within another scope; give it where: ',
    );
    const { agent } = await bootstrap([OpenHouse]);
    const { body } = await agent.get('/open-houses/1?include=pets').expect(200);
    expect(body.pets.items).to.have.length(1);
  });

  it('is served where nothing guards which rows are shown', async () => {
    const { agent } = await build(House, Harmless);
    const { body } = await agent.get('/houses/1?include=pets').expect(200);
    expect(body.pets.items).to.have.length(1);
  });
});
