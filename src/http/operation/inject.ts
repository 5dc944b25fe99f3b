/** Parameter decorators for controllers: repositories, and the sessions of the request. */
import { type Action, createParamDecorator } from 'routing-controllers';
import type { Model, Sequelize } from 'sequelize';
import { currentEngine } from '../../persistence/engine/engine.js';
import { resolveSource, type Source } from '../../persistence/records/resolve-source.js';
import { requestResource } from '../request/request-resource.js';
import { requestSessions } from '../request/request-sessions.js';

/**
 * Injects a repository. In a request that has a unit of work its queries are part of it.
 *
 * @example
 * ```ts
 * @Get('/:id/reviews')
 * reviews(@Param('id') id: string, @InjectRepository(Review) reviews: Repository<Review>) { … }
 * ```
 */
export function InjectRepository<M extends Model>(source: Source<M>): ParameterDecorator {
  return parameter(() => resolveSource(source));
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
  return parameter(({ request, response }) => requestSessions(request, response).unit(sequelizeOf(request)));
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
  return parameter(({ request, response }) =>
    requestSessions(request, response).readSession(sequelizeOf(request)),
  );
}

/** Where the model of the requested resource lives; for another route the current engine. */
function sequelizeOf(request: Action['request']): Sequelize {
  return requestResource(request)?.model.sequelize ?? currentEngine().sequelize;
}

function parameter(value: (action: Action) => unknown): ParameterDecorator {
  const decorate = createParamDecorator({ required: false, value });
  return (target, method, index) => decorate(target, String(method), index);
}
