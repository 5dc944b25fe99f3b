/** Parameter decorators for controllers: repositories, and the sessions of the request. */
import { type Action, createParamDecorator } from 'routing-controllers';
import type { Model, Sequelize } from 'sequelize';
import { currentEngine } from '../../persistence/engine/engine.js';
import type { Repository } from '../../persistence/records/repository.js';
import { resolveSource, type Source } from '../../persistence/records/resolve-source.js';
import type { ReadSession, UnitOfWork } from '../../persistence/records/unit-of-work.js';
import { requestResource } from '../request/request-resource.js';
import { requestSessions } from '../request/request-sessions.js';
import { hasAccessRules, repositoryWithin } from '../resources/application-access.js';

/**
 * Injects a repository, within the scope of the request. In a request that has a unit of work its queries are part of it.
 *
 * @example
 * ```ts
 * @Get('/:id/reviews')
 * reviews(@Param('id') id: string, @InjectRepository(Review) reviews: Repository<Review>) { … }
 * ```
 */
export function InjectRepository<M extends Model>(source: Source<M>): ParameterDecorator {
  return parameter(({ request }) =>
    repositoryWithin(request, resolveSource(source) as unknown as Repository),
  );
}

/**
 * Injects the unit of work of the request: one transaction, begun now, committed before the response is written, rolled
 * back when anything throws, when the commit fails, and at once when the client goes away: what the method still asks of it
 * then fails. Generated operations and injected repositories of the same request are part of it.
 *
 * @example
 * ```ts
 * @Post('/:id/publish')
 * publish(@Param('id') id: string, @InjectUnitOfWork() uow: UnitOfWork) {
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

/** The same session, whose repositories are within the scope of the request. */
function withinRequest<S extends ReadSession | UnitOfWork>(request: Action['request'], session: S): S {
  if (!hasAccessRules(request)) return session;
  const { transaction } = session;
  const repository = (source: Source) =>
    repositoryWithin(request, resolveSource(source) as unknown as Repository).with(session);
  const methods = 'savepoint' in session ? unitMethods(session) : {};
  // The overloads promise what is so: a repository stays one of its class.
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

function parameter(value: (action: Action) => unknown): ParameterDecorator {
  const decorate = createParamDecorator({ required: false, value });
  return (target, method, index) => decorate(target, String(method), index);
}
