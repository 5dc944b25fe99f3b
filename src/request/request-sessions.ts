/**
 * The database work of one request: the sessions that its parameters and its method asked for. They are committed before
 * the response is written, and rolled back on any error, and at once when the client goes away.
 */

import type { Request, Response } from 'express';
import type { ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { requestSettings } from '../access/row-security.js';
import {
  joinableSession,
  openReadSession,
  openUnit,
  type ReadSession,
  type RequestUnit,
} from '../execute/records/unit-of-work.js';
import { DatabaseSession, SNAPSHOT } from '../execute/session/database-session.js';
import { currentSession, runInSession } from '../postgres/index.js';
import { survivable } from '../util/promises.js';
import { requestLogger } from './request-log.js';

const WORK = Symbol('work');

/** A property, as the resource of a request is. */
interface WorkingRequest extends Request {
  [WORK]?: RequestSessions;
}

/** The work of a request; the same one at every call. */
export function requestSessions(request: WorkingRequest, response: Response): RequestSessions {
  const work = request[WORK] ?? new RequestSessions(request, response);
  request[WORK] = work;
  return work;
}

/** The work of a request that has any. */
export function existingSessions(request: WorkingRequest): RequestSessions | undefined {
  return request[WORK];
}

/** The error of a request whose client has gone; nobody is left to read an answer. */
export class ClientGone extends Error {
  constructor(options?: ErrorOptions) {
    super('The client has gone, so what its request has written is rolled back.', options);
    survivable(this);
  }
}

/** The sessions of one request. */
export class RequestSessions {
  readonly #open = {
    get: new Map<Sequelize, DatabaseSession>(),
    read: new Map<Sequelize, DatabaseSession>(),
    write: new Map<Sequelize, DatabaseSession>(),
  };
  /** Of the method that runs. */
  action: ActionMetadata | null = null;
  /** Units of work that the request is in. What has begun them ends them. */
  readonly #joined = new Set<DatabaseSession>();

  constructor(
    private readonly request: Request,
    private readonly response: Response,
  ) {
    response.once('close', () => {
      if (this.#isGone) for (const session of this.#sessions()) void session.abort(new ClientGone());
    });
  }

  /** The unit of work of the request, begun. */
  unit(sequelize: Sequelize): Promise<RequestUnit> {
    return openUnit(this.#session('write', sequelize));
  }

  /** The read session of the request, begun. */
  readSession(sequelize: Sequelize): Promise<ReadSession> {
    return openReadSession(this.#session('read', sequelize));
  }

  /** Runs reads; what is not a read is refused by the database. They are part of what the parameters began, if they did. */
  runRead<T>(sequelize: Sequelize, work: () => T): T {
    return runInSession(this.#begun(sequelize) ?? this.#session('get', sequelize), work);
  }

  /**
   * Runs reads that none of the user's code takes part in. Nobody would join a session of theirs, and the first one of a
   * process makes each promise after it dearer. They leave one that the request is in, as other reads do.
   */
  runPlainRead<T>(sequelize: Sequelize, work: () => T): T {
    const isAlone = !this.#begun(sequelize) && !currentSession(sequelize);
    return isAlone ? work() : this.runRead(sequelize, work);
  }

  /** Runs writes that belong together; their transaction begins with the first query. */
  runWrite<T>(sequelize: Sequelize, work: () => T): T {
    return runInSession(this.#session('write', sequelize), work);
  }

  /** Runs work in the session that the parameters began, if they did: the unit of work, or in a GET the read session. */
  runAdded<T>(work: () => T): T {
    const { read, write } = this.#open;
    const [session] = [...write.values(), ...(SAFE_METHODS.has(this.request.method) ? read.values() : [])];
    return session ? runInSession(session, work) : work();
  }

  /** True while there is a write that is not committed. */
  get hasWrites(): boolean {
    return this.#open.write.size > 0;
  }

  /** Commits everything; writes not when the client has gone, who would not learn of it. */
  async commit(): Promise<void> {
    if (this.#isGone && this.hasWrites) throw new ClientGone();
    for (const session of this.#own()) await session.commit();
    const { write } = this.#open;
    for (const [sequelize, session] of write) if (this.#joined.has(session)) write.delete(sequelize);
    this.#joined.clear();
  }

  /** Rolls back what is not committed. Never throws. */
  async rollback(cause?: unknown): Promise<void> {
    for (const session of this.#joined) session.refuse(cause);
    for (const session of this.#own()) await session.rollback(cause);
  }

  /** Replaces an error of the request: a query after its transaction was rolled back is no mistake in the code. */
  explain(error: object): object {
    return this.#isGone && saysTransactionOver(error) ? new ClientGone({ cause: error }) : error;
  }

  get #isGone(): boolean {
    return this.response.destroyed && !this.response.writableFinished;
  }

  /** Session that the parameters began. */
  #begun(sequelize: Sequelize): DatabaseSession | undefined {
    return this.#open.write.get(sequelize) ?? this.#open.read.get(sequelize);
  }

  /** Writes last: when the others cannot be ended, they are rolled back. */
  #sessions(): DatabaseSession[] {
    return Object.values(this.#open).flatMap((sessions) => [...sessions.values()]);
  }

  /** Sessions that the request ends. */
  #own(): DatabaseSession[] {
    return this.#sessions().filter((session) => !this.#joined.has(session));
  }

  /** The unit of work that the running code is in. */
  #join(sequelize: Sequelize): DatabaseSession | undefined {
    const outer = joinableSession(sequelize, 'write');
    if (outer) this.#joined.add(outer);
    return outer;
  }

  #session(mode: 'get' | 'read' | 'write', sequelize: Sequelize): DatabaseSession {
    const snapshot = mode === 'read' ? SNAPSHOT : {};
    const own = { logger: requestLogger(this.request), ...snapshot };
    const options = { ...own, settings: requestSettings(this.request), owner: () => methodName(this.action) };
    const known = this.#open[mode].get(sequelize);
    const outer = known || mode !== 'write' ? undefined : this.#join(sequelize);
    const session = known ?? outer ?? new DatabaseSession(sequelize, mode, options);
    this.#open[mode].set(sequelize, session);
    // It may have gone while a parameter was waited for.
    if (this.#isGone) void session.abort(new ClientGone());
    return session;
  }
}

/** As the user's code calls it: each application has a class of its own, which extends the user's. */
export function methodName(action: ActionMetadata | null): string {
  return action ? `${Object.getPrototypeOf(action.target).name}.${action.method}` : 'A middleware';
}

/** RFC 9110, 9.2.1, of those that reach a controller. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** True for Sequelize's error of a query in a transaction that has ended. Reading a thrown value can itself throw. */
function saysTransactionOver(error: object): boolean {
  try {
    const { message } = error as { readonly message?: unknown };
    return typeof message === 'string' && message.startsWith('rollback has been called on this transaction');
  } catch {
    return false;
  }
}
