/** The public API. Nothing that is not exported here is public; nothing inside the library imports this file. */
import 'reflect-metadata';

// Declare
export type { Attribute, CreateValues, UpdateValues } from './metadata/attributes.js';
export { Crud } from './metadata/crud.js';
export type {
  Class,
  CrudOptions,
  Dependency,
  FilterAllow,
  FilterOperator,
  IdType,
  ModelClass,
  Operation,
} from './metadata/crud-options.js';

// Compile
export { ConfigError } from './plan/config-error.js';
export type { Logger } from './plan/logger.js';
export type { SortTerm } from './plan/resource-plan.js';

// Synthesize
export { createSchema, readSchema, updateSchema } from './schema/model-schemas.js';
export { cursorPageSchema, pageSchema } from './schema/page-schema.js';
export type { RequestIssue } from './schema/request-issue.js';
export type { SchemaClass } from './schema/synthesize-class.js';

// Request
export type { Comparison, Filter, Junction } from './query/filter.js';
export { InvalidCursorError } from './query/invalid-cursor-error.js';
export type { Keyset } from './query/keyset.js';
export type { ListQuery } from './query/list-query.js';

// Data
export { configureEngine, currentEngine, disposeEngine, type Engine } from './persistence/engine.js';
export { type EngineOptions, engineLifespan } from './persistence/engine-lifespan.js';
export {
  ConcurrentModificationError,
  MultipleResultsFound,
  NotFoundError,
  PersistenceError,
  RelationNotLoaded,
} from './persistence/errors.js';
export type {
  CursorPage,
  CursorPageRequest,
  OffsetPage,
  Page,
  PageRequest,
  RowCriteria,
} from './persistence/page.js';
export type { ListOptions } from './persistence/list-options.js';
export { type Id, Repository } from './persistence/repository.js';
export { repository } from './persistence/repository-provider.js';
export type { RepositoryClass, Source } from './persistence/resolve-source.js';
export {
  dbSession,
  type ReadSession,
  type SessionOptions,
  type UnitOfWork,
  type UnitOfWorkOptions,
  unitOfWork,
} from './persistence/unit-of-work.js';

// Edge
export type { CrudContext } from './http/crud-context.js';
export { type CrudController, type CrudControllerClass, crudController } from './http/crud-controller.js';
export { type CrudRouterOptions, crudRouter } from './http/crud-router.js';
export { installExceptionHandlers } from './http/exception-handler.js';
export { httpExceptionFor, statusFor } from './http/http-exception.js';
export { InjectRepository, InjectSession, InjectUnitOfWork } from './http/inject.js';
export type { RoutingOptions } from './http/mount-resources.js';
export type { RouteInfo } from './http/route-info.js';
export { serve } from './http/serve.js';
export type { ServeOptions } from './http/serve-options.js';

// Health
export { type CheckOptions, checkHealth } from './health/check-health.js';
export type { HealthOptions } from './health/health-options.js';
export { ComponentHealth, type ComponentName, HealthReport } from './health/health-report.js';
export { healthRouter } from './health/health-router.js';

// OpenAPI
export type { DocsOptions } from './openapi/docs-options.js';
export type { OpenAPIObject } from './openapi/openapi-object.js';

// Root
export { type BootstrapOptions, bootstrap, type CrudApplication } from './bootstrap.js';
