/** Decisions about a route when it is compiled: the code that runs its SQL, and the code that receives its answer. */

import type { AccessRules } from '../access/reference-access.js';
import type { RowSecurity } from '../access/row-security.js';
import { sequelizeProblem } from '../execute/customization/internals-trial.js';
import { modelFastPathBlockers } from '../execute/customization/model-fast-path-blockers.js';
import { isPlainRepository } from '../execute/records/repository.js';
import type { FollowedModels } from '../execute/records/run-records.js';
import { declaredParameters } from '../express/resources/controller-metadata.js';
import { isOverridden } from '../express/resources/crud-controller.js';
import type { Resource } from '../express/resources/resource.js';
import { routingStorage } from '../express/resources/routing-controllers-internals.js';
import type { RoutingOptions } from '../express/resources/routing-options.js';
import type { CatalogueGate } from '../inspect/catalogue-gate.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { ShapedBy } from './shape-answer.js';

/** Options of an application that decide the path of a route. */
export interface PathSettings {
  readonly fastPath: boolean;
  readonly routing: RoutingOptions;
  /** Holds requests back until their tables were read. */
  readonly catalogue: CatalogueGate;
  /** Null where the application has none. */
  readonly rls: RowSecurity | null;
  /** Rules of access; null where the application has none. */
  readonly access: AccessRules | null;
  /** The models of the application, for the work of features after writes. */
  readonly followed: FollowedModels;
}

/**
 * Why Sequelize runs the SQL of a route; none when we do. Where a method of the user's decides, this is about the
 * methods of a plain repository, which it may call.
 *
 * @param blockers of its models
 */
function sequelizeReasons(settings: PathSettings, blockers: () => readonly string[]): readonly string[] {
  const problem = sequelizeProblem();
  return Object.freeze([...fastPathReasons(settings), ...(problem ? [problem] : blockers())]);
}

/** Decisions about a generated route at the start: one value, with its reasons. */
export interface RouteDecisions {
  /** `rows`: SQL of this library runs it; `records`: Sequelize; `user`: a method, or a repository, of the user's decides that. */
  readonly runner: 'rows' | 'records' | 'user';
  /** `text`: the rows are written as JSON; `values`: other code receives their values. */
  readonly answer: 'text' | 'values';
  /** Reasons for other executors and writers than `rows` and `text`. */
  readonly reasons: {
    /** Why Sequelize runs the SQL, of a method of the user's that of a plain repository. */
    readonly records: readonly string[];
    /** Why the controller's method is called. */
    readonly user: readonly string[];
    /** Why the answer is made of values. */
    readonly values: readonly string[];
  };
  readonly shapedBy: ShapedBy;
  /** True where code of the user's takes part in the form of records. */
  readonly isShapedByUser: boolean;
  /** True where decorators of the user's read parameters of the method. */
  readonly isDecorated: boolean;
  /** True where code of the user's may run in a request, before or behind our SQL. */
  readonly runsUserCode: boolean;
  readonly settings: PathSettings;
}

/** Decides them. */
export function decideRoute(
  resource: Resource,
  route: RouteSpec,
  lineage: readonly object[],
  settings: PathSettings,
): RouteDecisions {
  const { method, operation } = route;
  const { rowView, plan } = resource;
  const user = methodReasons(resource, route);
  const changes = answerChanges(method, lineage, settings);
  const reasons = Object.freeze({
    records: sequelizeReasons(settings, () =>
      modelFastPathBlockers(plan.info, operation, rowView.isOfRecords || user.length > 0),
    ),
    user,
    values: answerReasons(method, lineage, settings),
  });
  const isByUser = user.length > 0;
  const isDecorated = declaredParameters(lineage, method).length > 0;
  const isShapedByUser = rowView.runsUserCode;
  const isReceived = reasons.values.length > 0;
  return Object.freeze({
    runner: isByUser ? 'user' : reasons.records.length > 0 ? 'records' : 'rows',
    answer: isReceived ? 'values' : 'text',
    reasons,
    shapedBy: Object.freeze({
      isMethodAsked: isByUser,
      isChanged: changes.length > 0,
      isRuled: settings.access !== null && !settings.access.areNone,
    }),
    isShapedByUser,
    isDecorated,
    runsUserCode: isByUser || isReceived || isShapedByUser || isDecorated || plan.access !== null,
    settings,
  });
}

/**
 * The same for a route whose rows no method of the user's reads.
 *
 * @param blockers of its models, each of which leaves the SQL to Sequelize
 */
export function decideRows(
  resource: Resource,
  route: RouteSpec,
  { lineage, settings }: { readonly lineage: readonly object[]; readonly settings: PathSettings },
  blockers: () => readonly string[],
): RouteDecisions {
  const list = decideRoute(resource, route, lineage, settings);
  const records = sequelizeReasons(settings, blockers);
  return Object.freeze({
    ...list,
    runner: records.length === 0 ? 'rows' : 'records',
    reasons: Object.freeze({ ...list.reasons, records, user: [] }),
  });
}

/** The methods of routes that call several. */
const METHODS: Readonly<
  Partial<Record<RouteSpec['endpoint'], readonly ('create' | 'update' | 'replace')[]>>
> = {
  replace: ['create', 'update', 'replace'],
  upsert: ['create', 'update'],
};

/**
 * Reasons to call the controller's method: it is the user's, or its repository is, or its arguments were
 * made by code of the user's and may be of any type. Empty where no call is needed.
 */
function methodReasons(
  { controller, repository, plan }: Resource,
  { endpoint, method, operation }: RouteSpec,
): readonly string[] {
  const methods = METHODS[endpoint] ?? [method];
  const overridden = methods.filter((each) => isOverridden(controller, each));
  const schemas = methods.filter(
    (each) => (each === 'create' || each === 'update') && plan.explicitSchemas[each],
  );
  const isIdRead = plan.idKind === 'custom' && !['list', 'create', 'upsert'].includes(operation);
  return Object.freeze([
    ...overridden.map((each) => `the controller has a method ${each}`),
    ...(isPlainRepository(repository) ? [] : ['the repository has methods of its own']),
    ...schemas.map((each) => `the model has ${each}Schema`),
    ...(isIdRead ? ['idType is a function'] : []),
  ]);
}

/** Why an answer is made of values: code of the user's receives it, or the route takes the general path. None where it is text. */
export function answerReasons(
  method: string,
  lineage: readonly object[],
  settings: PathSettings,
): readonly string[] {
  return [...fastPathReasons(settings), ...answerChanges(method, lineage, settings)];
}

/** Why the application has no fast path; none where it has. */
export function fastPathReasons({ fastPath }: Pick<PathSettings, 'fastPath'>): readonly string[] {
  return fastPath ? [] : ['fastPath is false'];
}

/**
 * Code of the user's that receives the answer of a route as values, or comes after it: interceptors, decorators
 * of the answer, and middlewares behind it. Decorators whose code runs before are passed.
 */
export function answerChanges(
  method: string,
  lineage: readonly object[],
  { routing: { interceptors = [], middlewares = [] } }: Pick<PathSettings, 'routing'>,
): readonly string[] {
  const { useInterceptors, responseHandlers, uses, middlewares: all } = routingStorage();
  const concerns = (args: { target: unknown; method?: string }): boolean =>
    lineage.includes(args.target as object) && (args.method === undefined || args.method === method);
  const isAfter = all.some(
    ({ target, type }) => type === 'after' && (middlewares as readonly unknown[]).includes(target),
  );
  return [
    ...(interceptors.length > 0 ? ['the application has interceptors'] : []),
    ...(isAfter ? ['the application has a middleware after answers'] : []),
    ...(useInterceptors.some(concerns) ? ['the route has interceptors'] : []),
    ...(responseHandlers.some(concerns) ? ['the route has decorators of its answer'] : []),
    ...(uses.some((use) => use.afterAction && concerns(use)) ? ['the route has a middleware after it'] : []),
  ];
}
