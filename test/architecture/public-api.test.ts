/** The public API, name by name: a change here is a change for users, and belongs in the CHANGELOG. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMPILED_SOURCE } from '../support/package-root.js';
import { publicNames } from './public-names.js';
import { readSourceTree } from './source-tree.js';

describe('the public API', () => {
  it('has these values', () => {
    const compiled = createRequire(__filename)(join(COMPILED_SOURCE, 'index.js'));
    expect(Object.keys(compiled).sort()).to.deep.equal([
      'ComponentHealth',
      'ConcurrentModificationError',
      'ConfigError',
      'Crud',
      'HealthReport',
      'InjectRepository',
      'InjectSession',
      'InjectUnitOfWork',
      'InvalidCursorError',
      'MultipleResultsFound',
      'NotFoundError',
      'PersistenceError',
      'RelationNotLoaded',
      'Repository',
      'bootstrap',
      'checkHealth',
      'configureEngine',
      'createSchema',
      'crudController',
      'crudRouter',
      'currentEngine',
      'cursorPageSchema',
      'dbSession',
      'disposeEngine',
      'engineLifespan',
      'healthRouter',
      'httpExceptionFor',
      'installExceptionHandlers',
      'pageSchema',
      'readSchema',
      'repository',
      'serve',
      'statusFor',
      'unitOfWork',
      'updateSchema',
    ]);
  });

  it('has these types', () => {
    const types = publicNames(readSourceTree()).filter(({ isTypeOnly }) => isTypeOnly);
    expect(types.map(({ name }) => name)).to.deep.equal([
      'Attribute',
      'BootstrapOptions',
      'CheckOptions',
      'Class',
      'Comparison',
      'ComponentName',
      'CreateValues',
      'CrudApplication',
      'CrudContext',
      'CrudController',
      'CrudControllerClass',
      'CrudOptions',
      'CrudRouterOptions',
      'CursorPage',
      'CursorPageRequest',
      'Dependency',
      'DocsOptions',
      'Engine',
      'EngineOptions',
      'Filter',
      'FilterAllow',
      'FilterOperator',
      'FindByKeyOptions',
      'HealthOptions',
      'Id',
      'IdType',
      'Junction',
      'Keyset',
      'ListOptions',
      'ListQuery',
      'Logger',
      'ModelClass',
      'OffsetPage',
      'OpenAPIObject',
      'Operation',
      'Page',
      'PageRequest',
      'ReadQuery',
      'ReadSession',
      'RepositoryClass',
      'RequestIssue',
      'RouteInfo',
      'RoutingOptions',
      'RowCriteria',
      'SchemaClass',
      'ServeOptions',
      'SessionOptions',
      'SortTerm',
      'Source',
      'UnitOfWork',
      'UnitOfWorkOptions',
      'UpdateValues',
    ]);
  });
});
