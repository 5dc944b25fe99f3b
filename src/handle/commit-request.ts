/** Commits the writes of a request when its answer is shaped, or rolls them back, so that any error is answered as one. */

import type { Action, ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { requestSettings } from '../access/row-security.js';
import { everyInclude } from '../compile/resource-plan.js';
import { baseOf } from '../declare/endpoint.js';
import { hasPlainQueries, runsCodeInWrites } from '../execute/customization/plain-queries.js';
import { isPlainRepository, Repository } from '../execute/records/repository.js';
import { runFollowed } from '../execute/records/run-records.js';
import { isOverridden } from '../express/resources/crud-controller.js';
import type { Resource } from '../express/resources/resource.js';
import type { RouteSpec } from '../operation/route-spec.js';
import { readServers, runOnSequelize, runWithSettings } from '../postgres/index.js';
import { type RequestSessions, requestSessions } from '../request/request-sessions.js';
import { thrownError } from '../util/describe-error.js';
import { isPromise } from '../util/promises.js';
import type { PathSettings } from './decide-route.js';

/** Runs work in the database session of its request. */
export type RunInSession = <T>(sessions: RequestSessions, work: () => T) => T;

/** Runs in the session that the parameters of a route of the user's began, if they did. */
export const inAddedSession: RunInSession = (sessions, work) => sessions.runAdded(work);

/** The same, with the features of its application in repositories. All queries are Sequelize's, unless ours may be used. */
export function onPath(run: RunInSession, { fastPath, followed }: PathSettings): RunInSession {
  const runOwn: RunInSession = fastPath ? run : (sessions, work) => runOnSequelize(() => run(sessions, work));
  return (sessions, work) => runFollowed(followed, () => runOwn(sessions, work));
}

/**
 * Runs work in a session. Its writes are committed when this resolves, and rolled back when it rejects: work that
 * shapes an answer undoes it by throwing.
 */
export async function commitRequest<T>(
  metadata: ActionMetadata,
  { request, response }: Action,
  run: RunInSession,
  work: () => Promise<T>,
): Promise<T> {
  const sessions = requestSessions(request, response);
  sessions.action = metadata;
  const settings = requestSettings(request);
  try {
    const runWork = () => run(sessions, work);
    const result = await (settings ? runWithSettings(settings, runWork) : runWork());
    const committed = sessions.commit();
    if (isPromise(committed)) await committed;
    return result;
  } catch (thrown) {
    const error = thrownError(thrown, 'A controller');
    await sessions.rollback(error);
    throw sessions.explain(error);
  }
}

/** The sessions of a route. */
export interface RouteSessions {
  /** Session of the request, where it has one, or where code of the user's takes part in a write. */
  readonly session: RunInSession;
  /** A transaction, in which all that a write does happens together. A read has none. */
  readonly transaction: RunInSession;
}

/** The sessions of a generated operation. */
export function operationSessions(
  resource: Resource,
  route: RouteSpec,
  settings: PathSettings,
): RouteSessions {
  if (route.verb === 'get') return readSessions([resource], settings);
  const whole: RunInSession = (sessions, work) => sessions.runWrite(sequelizeOf(resource), work);
  // Two requests may create the same record: earlier writes of a replacement are undone.
  const isUndone = baseOf(route.operation) === 'replace';
  const write: RunInSession = (sessions, work) =>
    (isUndone || runsUserCode(resource, route) ? whole : inAddedSession)(sessions, work);
  return { session: onPath(write, settings), transaction: onPath(whole, settings) };
}

/** The session that a read of rows of some resources runs in. All are of one instance. */
export function readSessions(
  resources: readonly [Resource, ...Resource[]],
  settings: PathSettings,
): RouteSessions {
  const [first] = resources;
  const areSeen = resources.map(compileIsSeen);
  const read: RunInSession = (sessions, work) => {
    const sequelize = sequelizeOf(first);
    // One replica may be behind another, and its statements are dealt over all of them.
    if (readServers(sequelize) > 1) return sessions.runSnapshot(sequelize, work);
    return areSeen.some((isSeen) => isSeen())
      ? sessions.runRead(sequelize, work)
      : sessions.runPlainRead(sequelize, work);
  };
  const session = onPath(read, settings);
  return { session, transaction: session };
}

function sequelizeOf({ plan: { model, name } }: Resource): Sequelize {
  if (!model.sequelize) throw new TypeError(`${name} has lost its Sequelize instance.`);
  return model.sequelize;
}

/** True where code of the user's runs in a read: it may query, and must not write. Hooks can be added at any time. */
function compileIsSeen({ isGenerated, repository, plan }: Resource): () => boolean {
  const models = [plan.model, ...everyInclude(plan.relations.include).map(({ target }) => target.model)];
  return () =>
    // The state of the record is read beside it.
    (plan.entityTag !== null && plan.entityTag.kind !== 'version') ||
    !isGenerated ||
    !isPlainRepository(repository) ||
    !models.every((model) => hasPlainQueries(model, 'read'));
}

/** True where a write may do more than write its one row, so that all of it has to happen together. */
function runsUserCode({ controller, repository, plan }: Resource, { method }: RouteSpec): boolean {
  return (
    isOverridden(controller, method) || repository.constructor !== Repository || runsCodeInWrites(plan.model)
  );
}
