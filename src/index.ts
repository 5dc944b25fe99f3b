/** The public API. Nothing that is not exported here is public; nothing inside the library imports this file. */
import 'reflect-metadata';

// Declare
export type { Attribute, CreateValues, Ref, UpdateValues, Where } from './metadata/attributes.js';
export { Crud } from './metadata/crud.js';
export {
  type AccessOptions,
  type AccessRule,
  EVERYTHING,
  type FieldRules,
  type RowSecurityOptions,
  type Scope,
  type ScopeRule,
  type ScopeValue,
  type VisibleRule,
} from './metadata/access-options.js';
export { type FilterTemplate, type FilterValue, filter } from './metadata/filter-template.js';
export type { IncludeAllow, IncludeOptions, SubresourceAllow } from './metadata/include-options.js';
export type { CountMode, CountOptions, CountRequest, TotalIs } from './metadata/count-options.js';
export type { IdempotencyOptions, PrincipalRule } from './metadata/idempotency-options.js';
export type {
  Class,
  CrudOptions,
  Dependency,
  FilterAllow,
  FilterOperator,
  JsonType,
  OperatorAllow,
  RelatedFilterAllow,
  IdType,
  ModelClass,
  Operation,
} from './metadata/crud-options.js';

// Compile
export { ConfigError } from './util/config-error.js';
export type { Logger } from './util/logger.js';
export type { SortTerm } from './plan/resource-plan.js';

// Synthesize
export { createSchema, readSchema, updateSchema } from './schema/model-schemas.js';
export { cursorPageSchema, type PageSchemaOptions, pageSchema } from './schema/page-schema.js';
export {
  InvalidBodyError,
  InvalidQueryError,
  InvalidRequestError,
  type IssueLocation,
  type RequestIssue,
} from './schema/request-issue.js';
export type { SchemaClass } from './schema/synthesize-class.js';

// Request
export type { Comparison, Filter, Junction, RelatedFilter, WrittenFilter } from './query/list-query.js';
export { InvalidCursorError } from './query/cursor-codec.js';
export type { Keyset } from './query/keyset.js';
export type { CursorListQuery, Deleted, Inclusion, ListQuery, OffsetListQuery } from './query/list-query.js';
export type { ReadQuery } from './query/list-query.js';

// Data
export {
  configureEngine,
  currentEngine,
  disposeEngine,
  type Engine,
  type EngineParts,
} from './persistence/engine/engine.js';
export { type EngineOptions, engineLifespan } from './persistence/engine/engine-lifespan.js';
export {
  ConcurrentModificationError,
  MultipleResultsFound,
  NotDeletedError,
  NotFoundError,
  PersistenceError,
  RelationNotLoaded,
} from './persistence/errors/errors.js';
export type { FindByKeyOptions, ListOptions } from './persistence/paging/list-options.js';
export type { PurgeOptions } from './persistence/paging/purge-options.js';
export type {
  CursorPage,
  CursorPageRequest,
  OffsetPage,
  Page,
  PageRequest,
  RowCriteria,
} from './persistence/paging/page.js';
export type { RelationOptions, RelationsToLoad } from './persistence/paging/relations-to-load.js';
export { Repository } from './persistence/records/repository.js';
export type { Id } from './persistence/records/row-records.js';
export { type RepositoryClass, repository, type Source } from './persistence/records/resolve-source.js';
export {
  dbSession,
  type ReadSession,
  type SessionOptions,
  type UnitOfWork,
  type UnitOfWorkOptions,
  unitOfWork,
} from './persistence/records/unit-of-work.js';

// Edge
export type { CrudContext } from './http/resources/crud-controller.js';
export {
  type CrudController,
  type CrudControllerClass,
  crudController,
} from './http/resources/crud-controller.js';
export { type CrudRouterOptions, crudRouter } from './http/routes/crud-router.js';
export { EXPOSED_HEADERS } from './http/answer/default-headers.js';
export { installExceptionHandlers } from './http/error/exception-handler.js';
export { httpExceptionFor, statusFor } from './http/error/http-exception.js';
export {
  InjectId,
  InjectListQuery,
  InjectRecord,
  InjectRepository,
  InjectSession,
  InjectUnitOfWork,
} from './http/operation/inject.js';
export { type AnswerType, Answers } from './http/routes/answers.js';
export { readId } from './http/request/read-id.js';
export type { RoutingOptions } from './http/resources/settings.js';
export type { RouteInfo } from './http/routes/route-info.js';
export { type RequestClasses, requestClasses } from './http/server/request-classes.js';
export { serve } from './http/server/serve.js';
export type { ServeOptions } from './http/server/serve-options.js';

// Health
export { type CheckOptions, checkHealth } from './health/check-health.js';
export type { HealthOptions } from './health/health-options.js';
export { ComponentHealth, type ComponentName, HealthReport } from './health/health-report.js';
export { healthRouter } from './health/health-router.js';

// OpenAPI
export type { DocsOptions } from './openapi/docs-options.js';
export type { OpenAPIObject, SecurityRequirement, SecuritySchemeObject } from './openapi/openapi-object.js';

// Root
export { type BootstrapOptions, bootstrap, type CrudApplication } from './bootstrap.js';

// Observe
export type { MetricsOptions, ObserveOptions } from './observe/observe-options.js';
export type { OperationMessage, StatementMessage } from './diagnostics/channels.js';
