/** Parameter decorators for controllers: repositories, the sessions of the request, and its values parsed by its resource. */

import { type Action, createParamDecorator } from 'routing-controllers';
import type { Model, Sequelize } from 'sequelize';
import { accessRules } from '../access/reference-access.js';
import type { Repository } from '../execute/records/repository.js';
import { resolveSource, type Source } from '../execute/records/repository-source.js';
import type { ReadSession, UnitOfWork } from '../execute/records/unit-of-work.js';
import { hasOwnIds, repositoryWithin } from '../express/resources/application-access.js';
import type { ParameterArgs } from '../express/resources/controller-metadata.js';
import { UNBOUND, unboundRecord } from '../express/resources/resource-parameters.js';
import { currentEngine } from '../postgres/index.js';
import { requestResource } from '../request/request-notes.js';
import { requestSessions } from '../request/request-sessions.js';
import { throwProblems } from '../util/config-error.js';
import { unknownOptions } from '../util/option-problems.js';

/**
 * Injects a repository, within the scope of the request. In a request that has a unit of work its queries are part of it.
 *
 * @example
 * ```ts
 * @Get('/:id/reviews')
 * reviews(@InjectId() id: number, @InjectRepository(Review) reviews: Repository<Review>) { … }
 * ```
 */
export function InjectRepository<M extends Model>(source: Source<M>): ParameterDecorator {
  return parameter(({ request }) =>
    repositoryWithin(request, resolveSource(source) as unknown as Repository),
  );
}

/**
 * Injects the unit of work of the request. It is one transaction, which begins now, and is committed before the response is written.
 * It is rolled back when anything throws, when the commit fails, and at once when the client goes away. Later queries of the
 * method fail then. Generated operations and injected repositories of the same request are part of it.
 *
 * @example
 * ```ts
 * @Post('/:id/publish')
 * publish(@InjectId() id: number, @InjectUnitOfWork() uow: UnitOfWork) {
 *   uow.afterCommit(() => announce(id));
 *   return uow.repository(Article).update(id, { isPublished: true });
 * }
 * ```
 */
export function InjectUnitOfWork(): ParameterDecorator {
  return parameter(async ({ request, response }) =>
    withinRequest(request, await requestSessions(request, response).unit(sequelizeOf(request))),
  );
}

/**
 * Injects a read-only session of the request: reads on one snapshot, on a replica where there is one; the database
 * refuses writes.
 *
 * @example
 * ```ts
 * @Get('/report')
 * report(@InjectSession() session: ReadSession) { return session.repository(City).list({ limit: 10 }); }
 * ```
 */
export function InjectSession(): ParameterDecorator {
  return parameter(async ({ request, response }) =>
    withinRequest(request, await requestSessions(request, response).readSession(sequelizeOf(request))),
  );
}

/**
 * Injects the `:id` of the path: a value of the attribute that addresses a record, parsed by the resource's `idType`. A text that is no
 * id is answered with 400, and a value that no row can have with 404, as on the generated routes. For methods of a
 * controller that extends `crudController(Model)`, on paths with `:id`; `bootstrap` refuses it elsewhere with a ConfigError.
 *
 * @example
 * ```ts
 * @Get('/:id/reviews')
 * reviews(@InjectId() cityId: number, @InjectRepository(Review) reviews: Repository<Review>) {
 *   return reviews.list({ where: { cityId } });
 * }
 * ```
 */
export function InjectId(): ParameterDecorator {
  return parameter(UNBOUND.id);
}

/**
 * Injects the record of the `:id` of the path. One that is not there, or not within the access of the request, is the 404 of
 * the generated read. In a GET it is read as the generated read does, and in the read session of the request where it has
 * one. In any other method the row is locked (`FOR NO KEY UPDATE`) in the unit of work of the request, which begins with it. All that
 * the method writes is then one transaction with it, committed before the answer is sent. For methods of a controller that
 * extends `crudController(Model)`, on paths with `:id`; `bootstrap` refuses it elsewhere with a ConfigError.
 *
 * With a Sequelize instance of your own, write through repositories, or pass the transaction of an injected unit of work to
 * `article.update`. Another connection would wait for the lock.
 *
 * @example
 * ```ts
 * @Post('/:id/publish')
 * publish(@InjectRecord() article: Article) {
 *   if (article.isPublished) throw new HttpError(409, 'It is published.');
 *   return article.update({ isPublished: true });
 * }
 * ```
 * @throws ConfigError for an unknown option
 */
export function InjectRecord(options: InjectRecordOptions = {}): ParameterDecorator {
  throwProblems(unknownOptions('@InjectRecord', options, ['by']));
  const { by } = options;
  return parameter(by === undefined ? UNBOUND.record : unboundRecord(by));
}

/** Options of `@InjectRecord`. */
export interface InjectRecordOptions {
  /**
   * A unique attribute that the record is found by. The parameter of the path has its name, as in `/by-slug/:slug`. Where several rows
   * have the value, the answer is 409. Default: the attribute that addresses a record of the resource, with `:id` in the path.
   */
  readonly by?: string;
}

/**
 * Injects the last argument of overrides: the request, the response, and the repository of the resource within the
 * access of the request. For routes of your own on a controller that extends `crudController(Model)`; `bootstrap` refuses it
 * elsewhere with a ConfigError.
 *
 * @example
 * ```ts
 * @Get('/open/count')
 * async count(@InjectContext() { repository }: CrudContext<Task>) {
 *   return { count: await repository.count({ where: { isDone: false } }) };
 * }
 * ```
 */
export function InjectContext(): ParameterDecorator {
  return parameter(UNBOUND.context);
}

/**
 * Injects the query string of a list: `q`, `search`, `sort`, `fields`, `include`, `count`, `deleted` and the paging, with all checks of the
 * generated list. Query parameters that the method reads with `@QueryParam()` are accepted beside them. The method returns
 * the page that `page` or `cursorPage` of a repository returns for this query. It may add a `where` to the query. The answer is the
 * envelope of the list, with `fields` applied and cursors for this route. Any other result, a page of the other kind or of another
 * model, and a page by cursor in another order are errors of the code: 500. For routes of your own on a controller that extends `crudController(Model)`; `bootstrap` refuses it elsewhere
 * with a ConfigError.
 *
 * @example
 * ```ts
 * @Get('/capitals')
 * capitals(@InjectListQuery() query: OffsetListQuery, @InjectRepository(City) cities: Repository<City>) {
 *   return cities.page({ ...query, where: { isCapital: true } });
 * }
 * ```
 */
export function InjectListQuery(): ParameterDecorator {
  return parameter(UNBOUND.listQuery);
}

/** The same session, whose repositories are within the scope of the request. */
function withinRequest<S extends ReadSession | UnitOfWork>(request: Action['request'], session: S): S {
  if (!accessRules(request) && !hasOwnIds(request)) return session;
  const { transaction } = session;
  const repository = (source: Source) =>
    repositoryWithin(request, resolveSource(source) as unknown as Repository).with(session);
  const methods = 'savepoint' in session ? unitMethods(session) : {};
  // The overloads are right: a repository stays one of its class.
  return Object.freeze({ transaction, repository, ...methods }) as unknown as S;
}

function unitMethods(unit: UnitOfWork): Pick<UnitOfWork, 'savepoint' | 'afterCommit'> {
  return {
    savepoint: (work) => unit.savepoint(work),
    afterCommit: (callback) => unit.afterCommit(callback),
  };
}

/** Where the model of the requested resource lives; for another route the current engine. */
function sequelizeOf(request: Action['request']): Sequelize {
  return requestResource(request)?.model.sequelize ?? currentEngine().sequelize;
}

const READERS = new WeakSet<object>();

/** True for a parameter of one of these decorators. They read no query string and no body that is not theirs. */
export function isInjected({ transform }: ParameterArgs): boolean {
  return transform !== undefined && READERS.has(transform);
}

function parameter(value: (action: Action) => unknown): ParameterDecorator {
  READERS.add(value);
  const decorate = createParamDecorator({ required: false, value });
  return (target, method, index) => decorate(target, String(method), index);
}
