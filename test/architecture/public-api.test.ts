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
      'ConcurrentModificationError',
      'ConfigError',
      'Crud',
      'MultipleResultsFound',
      'NotFoundError',
      'PersistenceError',
      'RelationNotLoaded',
      'Repository',
      'bootstrap',
      'configureEngine',
      'createSchema',
      'crudController',
      'crudRouter',
      'currentEngine',
      'cursorPageSchema',
      'disposeEngine',
      'engineLifespan',
      'httpExceptionFor',
      'installExceptionHandlers',
      'pageSchema',
      'readSchema',
      'statusFor',
      'updateSchema',
    ]);
  });

  it('has these types', () => {
    const types = publicNames(readSourceTree()).filter(({ isTypeOnly }) => isTypeOnly);
    expect(types.map(({ name }) => name)).to.deep.equal([
      'Attribute',
      'BootstrapOptions',
      'Class',
      'CreateValues',
      'CrudApplication',
      'CrudContext',
      'CrudController',
      'CrudControllerClass',
      'CrudOptions',
      'CrudRouterOptions',
      'Dependency',
      'Engine',
      'EngineOptions',
      'FilterAllow',
      'FilterOperator',
      'Id',
      'IdType',
      'ListOptions',
      'ListQuery',
      'Logger',
      'ModelClass',
      'Operation',
      'Page',
      'PageRequest',
      'RepositoryClass',
      'RequestIssue',
      'RouteInfo',
      'RoutingOptions',
      'SchemaClass',
      'Source',
      'UpdateValues',
    ]);
  });
});
