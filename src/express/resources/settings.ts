/** The options of `bootstrap`, checked, with every default filled in. */
import { canProblems, type SharedAccess } from '../../compile/compile-access.js';
import { isPlain } from '../../compile/compile-options.js';
import type { OperationRules, RowSecurityOptions, Scope } from '../../declare/access-options.js';
import { type CrudRecord, crudRecords, currentRecords } from '../../declare/crud.js';
import type { Class, ModelClass } from '../../declare/crud-options.js';
import { type CursorCodec, createCursorCodec } from '../../request/query/cursor-codec.js';
import type { ProblemOption } from '../../respond/send-problem.js';
import { ConfigError, collectProblems } from '../../util/config-error.js';
import { adaptLogger, defaultLogger, type Logger } from '../../util/logger.js';
import {
  flagProblems,
  listProblems,
  parseSize,
  pathInListProblem,
  pathProblems,
  showValue,
  unknownOptions,
  withoutSlash,
} from '../../util/option-problems.js';
import { type OwnPlaces, type RoutingOptions, routingProblems } from './routing-options.js';

/** The options that `bootstrap` and `crudRouter` have in common. */
export interface RouterOptions {
  /**
   * The largest body, as sent and after decompression: bytes, or a text such as `'100kb'`, which is the default. A body that a parser of yours
   * has read before, such as `express.json()`, has the limit of that parser. A `bodyLimit` that is set holds for it as well, but not where it
   * came in chunks or compressed and was parsed, as nothing has its length then.
   */
  bodyLimit?: string | number;
  /**
   * Signs cursors (HMAC-SHA256), so that a client cannot make its own. Several: the first one signs, all are accepted,
   * which is how a secret is changed. It also hides, in tags, versions that the request may not read, and in cursors values that no answer
   * has. Default: none: other cursors carry a checksum only, and such tags and cursors are good for one process.
   * Each is a text of 16 characters or more; a shorter one is a `ConfigError`.
   */
  cursorSecret?: string | readonly string[];
  /**
   * True: routes may take the fast path, where no plugged-in code could see a difference. It has prepared statements
   * of the library's own, whose results are written into JSON as they come. The answers are the same. Default: true.
   */
  fastPath?: boolean;
  /**
   * Gets unexpected errors, in callbacks after a commit and at the end of `serve` too. pino, winston, bunyan and `console`
   * work as they are; a logger without one of the four methods is a `ConfigError`. Default: warnings and errors as JSON
   * lines on standard error, and lines at level `info` on standard output.
   */
  logger?: Logger;
  /** Options of routing-controllers: `authorizationChecker`, `currentUserChecker`, `interceptors`, `middlewares` … */
  routing?: RoutingOptions;
}

/** The options of `bootstrap` that concern resources. */
export interface ResourceOptions extends RouterOptions {
  /** The models to serve; each needs `@Crud`. Default: every `@Crud` class of the process. */
  models?: readonly ModelClass[];
  /**
   * Subclasses of generated controllers, which replace those, and hand-written controllers. A subclass of a served model that is
   * missing here is a `ConfigError`, or a warning where `models` is set. Default: none.
   */
  controllers?: readonly Class[];
  /** Before every path, such as `'/api'`. Default: none. */
  routePrefix?: string;
  /**
   * The values that rows must have to be seen and written, for every model that has the attribute, as `scope` of `@Crud`, which
   * comes before it. Default: none.
   *
   * @example
   * ```ts
   * await bootstrap(app, { scope: { tenantId: (request) => request.user.tenantId } });
   * ```
   */
  scope?: Scope;
  /**
   * Rules of operations, for every model whose own `can` does not name the operation. Default: none.
   *
   * @example
   * ```ts
   * await bootstrap(app, { can: { list: true, read: true, create: isMember, update: isStaff, delete: isStaff }, deny: true });
   * ```
   */
  can?: OperationRules;
  /** True: an operation without a rule in `can`, here or in `@Crud`, is a `ConfigError`. Default: false, and all requests may use it. */
  deny?: boolean;
  /**
   * Row security of PostgreSQL, beside `scope` or instead of it. Every statement of a request has these settings, which policies
   * read: those of generated routes, of code of yours and of units of work. They end with the transaction, so that nothing is left
   * on a connection, and poolers may hand it on. Our SQL takes no more round trips for it; a query of Sequelize's gets a
   * transaction. On a Sequelize instance of yours this holds for repositories and sessions, and not for other queries.
   * Middlewares before a route and routers of `crudRouter` have no settings, so that they see no row. Default: none.
   *
   * The policies are yours; docs/access.md has one, and the checks of PostgreSQL past all policies.
   *
   * `bootstrap` rejects with a ConfigError where policies do not hold for a role that the engine connects as, also for reads. It
   * must be no superuser, have no BYPASSRLS, and own no served table whose row security is not forced. The message has the statement
   * that mends it. Served tables without row security, and views, are one warning. Requests are answered with 503 until the
   * database has been checked.
   *
   * @example
   * ```ts
   * await bootstrap(app, { rls: { settings: ({ user }) => ({ 'app.tenant_id': user && String(user.tenantId) }) } });
   * ```
   */
  rls?: RowSecurityOptions;
  /**
   * The answer to a request that failed. A function returns the JSON body of each error that the application answers: of
   * all routes, of unknown paths and methods, and of the failed items of a 207. `response.type()` sets the media type,
   * which is `application/json` otherwise, and the status stays. Where the function throws, or returns undefined or a promise, the
   * standard problem is sent, and the logger has a line.
   *
   * `'next'` answers nothing: the error goes on to the error handlers that the application has behind `bootstrap`, and
   * `problemOf(error)` returns the standard problem. Where none of them answers, the standard problem is sent.
   * Default: `application/problem+json` with `detail` and `errors`.
   *
   * @example
   * ```ts
   * await bootstrap(app, { problem: ({ detail, errors = [] }) => ({ message: detail, reasons: errors.map((each) => each.code) }) });
   * ```
   */
  problem?: ProblemOption;
}

/** The settings of a router. */
export interface RouterSettings {
  /** Bytes; undefined for the default. */
  readonly bodyLimit: number | undefined;
  readonly cursors: CursorCodec;
  readonly fastPath: boolean;
  readonly logger: Logger;
  readonly routing: RoutingOptions;
}

/** The settings of an application. */
export interface Settings extends RouterSettings {
  readonly records: readonly CrudRecord[];
  /** True where the records are found by a scan, and not those of models that were listed. */
  readonly isScan: boolean;
  readonly controllers: readonly Class[];
  readonly routePrefix: string;
  readonly access: SharedAccess;
  readonly rls: RowSecurityOptions | null;
  readonly problem: ProblemOption | null;
  /** Problems of the options. */
  readonly problems: readonly string[];
}

const OPTION_NAMES: Readonly<Record<keyof ResourceOptions, true>> = {
  models: true,
  controllers: true,
  routePrefix: true,
  bodyLimit: true,
  cursorSecret: true,
  fastPath: true,
  logger: true,
  routing: true,
  scope: true,
  can: true,
  deny: true,
  rls: true,
  problem: true,
};

/**
 * Resolves the options. Never throws for a wrong one: its problem is thrown with those of the models.
 *
 * @param otherNames options that are read elsewhere, named when one is unknown
 * @param otherProblems problems of those
 */
export function resolveSettings(
  options: ResourceOptions,
  otherNames: readonly string[] = [],
  otherProblems: readonly string[] = [],
): Settings {
  const {
    models: givenModels,
    controllers: givenControllers = [],
    routePrefix = '',
    scope = {},
    can = {},
    deny = false,
    rls = null,
    problem = null,
  } = options;
  // A value that is no list is a problem, and read as an empty one.
  const models = givenModels === undefined || Array.isArray(givenModels) ? givenModels : [];
  const controllers = Array.isArray(givenControllers) ? givenControllers : [];
  const prefix = withoutSlash(String(routePrefix));
  const records = models ? models.flatMap(recordsOf) : currentRecords();
  const problems = [
    ...unknownOptions('bootstrap', options, [...Object.keys(OPTION_NAMES), ...otherNames]),
    ...(models ?? [])
      .filter((model) => recordsOf(model).length === 0)
      .map((model: unknown) =>
        typeof model === 'string'
          ? pathInListProblem('models', model)
          : `${(model as ModelClass | null)?.name ?? String(model)} is in models but has no @Crud; decorate it or leave it out.`,
      ),
    ...(givenModels !== undefined ? listProblems('models', givenModels, 'model classes') : []),
    ...listProblems('controllers', givenControllers, 'classes'),
    ...pathProblems('routePrefix', routePrefix, '/api'),
    ...otherProblems,
    ...canProblems(can),
    ...flagProblems('deny', deny),
    ...('rls' in options ? rowSecurityProblems(options.rls) : []),
    ...(options.problem !== undefined && typeof problem !== 'function' && problem !== 'next'
      ? [
          `problem is ${showValue(options.problem)}; use a function of the problem, or 'next', or leave it out.`,
        ]
      : []),
    ...(isPlain(scope)
      ? []
      : [`scope is ${showValue(scope)}; use an object of attributes and functions of the request.`]),
    // A variable that was never set must not switch a rule off.
    ...(['scope', 'can', 'deny'] as const)
      .filter((name) => name in options && options[name] === undefined)
      .map((name) => `${name} is undefined; give it a value, or leave it out.`),
  ];
  return Object.freeze({
    records,
    isScan: models === undefined,
    controllers,
    routePrefix: prefix,
    access: Object.freeze({ scope, can, deny }),
    rls,
    problem,
    ...resolveRouterOptions(options, problems, { routePrefix: prefix, controllers }),
    problems,
  });
}

/** Resolves the options that `crudRouter` has too; adds its problems to the others. @param places none for `crudRouter` */
export function resolveRouterOptions(
  options: RouterOptions,
  problems: string[],
  places: OwnPlaces | null = null,
): RouterSettings {
  const { fastPath = true, logger, routing } = options;
  problems.push(
    ...flagProblems('fastPath', fastPath),
    // A variable that was never set must not switch its guards off.
    ...('routing' in options ? routingProblems(routing, places) : []),
  );
  return {
    bodyLimit: collectProblems(problems, () => parseBodyLimit(options.bodyLimit), 0),
    logger:
      logger === undefined
        ? defaultLogger
        : collectProblems(problems, () => adaptLogger(logger), defaultLogger),
    cursors: createCursorCodec(collectProblems(problems, () => parseSecrets(options.cursorSecret), [])),
    fastPath,
    routing: isPlain(routing) ? (routing as RoutingOptions) : {},
  };
}

/** A variable that was never set must not switch it off. */
function rowSecurityProblems(rls: unknown): string[] {
  if (typeof rls !== 'object' || rls === null)
    return [`rls is ${showValue(rls)}; use { settings: (request) => ({ … }) }, or leave it out.`];
  const { settings } = rls as { readonly settings?: unknown };
  return [
    ...unknownOptions('rls', rls, ['settings']),
    ...(typeof settings === 'function'
      ? []
      : [`rls.settings is ${showValue(settings)}; use a function of the request.`]),
  ];
}

function recordsOf(model: ModelClass): CrudRecord[] {
  return crudRecords().filter((record) => record.model === model);
}

/**
 * `'100kb'` or a number of bytes -> bytes; undefined for the default. Checked here, because a limit that is not understood must not mean
 * no limit (CVE-2026-12590).
 *
 * @throws ConfigError
 */
function parseBodyLimit(limit: string | number | undefined): number | undefined {
  if (limit === undefined) return undefined;
  const parsed = parseSize(limit);
  if (parsed !== null) return parsed;
  throw new ConfigError([
    `bodyLimit is ${showValue(limit)}; use a number of bytes from 1, or a text such as '100kb'.`,
  ]);
}

/** RFC 2104 requires keys no shorter than the hash; fewer than 16 characters can be guessed. */
const MIN_LENGTH = 16;

/**
 * One secret or several -> a list, the signing one first.
 *
 * @throws ConfigError for one that is too short; the message does not hold it
 */
function parseSecrets(secret: string | readonly string[] | undefined): readonly string[] {
  const secrets = secret === undefined ? [] : [secret].flat();
  const isWrong = (each: unknown): boolean => typeof each !== 'string' || each.length < MIN_LENGTH;
  if (secret !== undefined && (secrets.length === 0 || secrets.some(isWrong))) {
    throw new ConfigError([
      `cursorSecret is empty, or shorter than ${MIN_LENGTH} characters; use a random text, such as 32 bytes in base64.`,
    ]);
  }
  return Object.freeze(secrets);
}
