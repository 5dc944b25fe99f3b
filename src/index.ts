/** The public API. Nothing that is not exported here is public; nothing inside the library imports this file. */
import 'reflect-metadata';

// Declare
export type { Attribute, CreateValues, Ref, UpdateValues, Where } from './declare/attributes.js';
export { Crud } from './declare/crud.js';
export { BelongsToKey, HasManyKey, type KeyPairs } from './declare/key-relations.js';
export {
  type AccessOptions,
  type AccessRule,
  type OperationRules,
  type RowRule,
  type SetRule,
  type SetValue,
  EVERYTHING,
  type FieldRules,
  type RowSecurityOptions,
  type Scope,
  type ScopeRule,
  type ScopeValue,
  type VisibleRule,
} from './declare/access-options.js';
export type { FilterOperator } from './declare/filter-operators.js';
export { type FilterTemplate, type FilterValue, filter } from './declare/filter-template.js';
export type { AggregateOptions, Measure, TimeUnit } from './declare/aggregate-options.js';
export type { AggregateQuery } from './execute/records/aggregate-records.js';
export type { AggregateResult, GroupItem } from './features/aggregate/run-aggregate.js';
export type { ExportFormat, ExportOptions } from './declare/export-options.js';
export type { ChangesOptions, HistoryOptions } from './declare/history-options.js';
export type { ActorRule } from './features/capture/capture-options.js';
export type { FeedOptions } from './features/changes/feed-options.js';
export type { ImportMode, ImportOptions } from './declare/import-options.js';
export type { IncludeAllow, IncludeOptions, SubresourceAllow } from './declare/include-options.js';
export type { LinkAllow, LinkOptions } from './declare/link-options.js';
export type { NestedAllow, NestedOptions } from './declare/nested-options.js';
export type { SearchAllow, TextSearchOptions } from './declare/search-options.js';
export type { NullPlace, SortAllow, SortOptions } from './declare/sort-options.js';
export type { CountMode, CountOptions, CountRequest, TotalIs } from './declare/count-options.js';
export type { IdempotencyOptions, PrincipalRule } from './features/idempotency/idempotency-options.js';
export type {
  Class,
  CrudOptions,
  Dependency,
  FilterAllow,
  JsonType,
  OperatorAllow,
  RelatedFilterAllow,
  IdType,
  IdTypes,
  ModelClass,
  Operation,
} from './declare/crud-options.js';

// Compile
export { ConfigError } from './util/config-error.js';
export type { Logger } from './util/logger.js';
export type { SortTerm } from './compile/resource-plan.js';

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
export type { SchemaClass } from './schema/class-properties.js';

// Request
export type {
  Comparison,
  Filter,
  Junction,
  RelatedFilter,
  WrittenFilter,
} from './request/query/predicate.js';
export { InvalidCursorError } from './request/query/cursor-codec.js';
export type { Keyset } from './request/query/cursor-codec.js';
export type {
  CursorListQuery,
  Deleted,
  Inclusion,
  ListQuery,
  OffsetListQuery,
} from './request/query/list-query.js';
export type { ReadQuery } from './request/query/list-query.js';

// Data
export {
  configureEngine,
  currentEngine,
  disposeEngine,
  type Engine,
  type EngineParts,
} from './postgres/engine/engine.js';
export { type EngineOptions, engineLifespan } from './engine-lifespan.js';
export {
  ConcurrentModificationError,
  MultipleResultsFound,
  NotFoundError,
  PersistenceError,
  RelationNotLoaded,
} from './errors/errors.js';
export type {
  CursorPageRequest,
  FindByKeyOptions,
  ListOptions,
  PageRequest,
  RelationOptions,
  RelationsToLoad,
  RowChoice,
  RowCriteria,
  StreamRequest,
} from './execute/records/repository-options.js';
export { NotDeletedError, type PurgeOptions } from './features/soft-delete/restore-and-purge.js';
export type {
  CursorPage,
  OffsetPage,
  Page,
} from './execute/page.js';
export type { ImportedRows, ImportRowsOptions, RowSource } from './execute/records/import-records.js';
export type { Id } from './execute/records/repository-operations.js';
export { Repository } from './execute/records/repository.js';
export { type RepositoryClass, repository, type Source } from './execute/records/repository-source.js';
export {
  dbSession,
  type ReadSession,
  type SessionOptions,
  type UnitOfWork,
  type UnitOfWorkOptions,
  unitOfWork,
} from './execute/records/unit-of-work.js';

// Edge
export type { CrudContext } from './express/resources/crud-controller.js';
export {
  type CrudController,
  type CrudControllerClass,
  crudController,
} from './express/resources/crud-controller.js';
export { type CrudRouterOptions, crudRouter } from './express/routes/crud-router.js';
export { EXPOSED_HEADERS } from './request/standard-headers.js';
export { installExceptionHandlers } from './respond/exception-handler.js';
export { httpExceptionFor, type Problem, problemOf, statusFor } from './respond/problem.js';
export type { ProblemOption } from './respond/send-problem.js';
export {
  InjectContext,
  InjectId,
  InjectListQuery,
  InjectRecord,
  type InjectRecordOptions,
  InjectRepository,
  InjectSession,
  InjectUnitOfWork,
} from './handle/inject.js';
export {
  Answers,
  type AnswerType,
  type RouteDetails,
  type StatusAnswers,
} from './express/routes/answers.js';
export { formatId, readId } from './request/read-id.js';
export type { RoutingOptions } from './express/resources/routing-options.js';
export type { RouteInfo } from './express/routes/route-info.js';
export { type RequestClasses, requestClasses } from './express/server/express-server.js';
export { serve } from './express/server/serve.js';
export type { ServeOptions } from './express/server/serve.js';

// Health
export { type CheckOptions, checkHealth } from './health/check-health.js';
export type { HealthOptions } from './health/health-options.js';
export { ComponentHealth, type ComponentName, HealthReport } from './health/check-health.js';
export { healthRouter } from './health/health-router.js';

// OpenAPI
export type { DocsOptions } from './openapi/docs-options.js';
export type { OpenAPIObject, SecurityRequirement, SecuritySchemeObject } from './openapi/openapi-object.js';

// Root
export { type BootstrapOptions, bootstrap, type CrudApplication } from './bootstrap.js';

// Observe
export type { MetricsOptions, ObserveOptions } from './observe/observe-options.js';
export type { OperationMessage, StatementMessage } from './diagnostics/channels.js';
