/**
 * The database work of one request: the sessions of its parameters and its method. They are committed before
 * the response is written, and rolled back on any error, and at once when the client goes away.
 */

import type { Request, Response } from 'express';
import type { ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { requestSettings } from '../access/row-security.js';
import {
  openReadSession,
  openUnit,
  type ReadSession,
  type RequestUnit,
} from '../execute/records/unit-of-work.js';
import { DatabaseSession, SNAPSHOT } from '../execute/session/database-session.js';
import { joinableSession } from '../execute/session/savepoint.js';
import { currentSession, runInSession } from '../postgres/index.js';
import { type Maybe, survivable, then } from '../util/promises.js';
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

/** The error of a request whose client has gone, so that no answer is read. */
export class ClientGone extends Error {
  constructor(options?: ErrorOptions) {
    super('The client has gone, so what its request has written is rolled back.', options);
    survivable(this);
  }
}

type Mode = 'get' | 'read' | 'write';

interface OpenSession {
  readonly mode: Mode;
  readonly sequelize: Sequelize;
  readonly session: DatabaseSession;
}

/** The sessions of one request. */
export class RequestSessions {
  /** Sessions that it has begun, or joined. */
  #open: readonly OpenSession[] = [];
  /** Metadata of the method that runs. */
  action: ActionMetadata | null = null;
  /** Units of work that the request is in. The code that has begun them ends them. */
  #joined: readonly DatabaseSession[] = [];

  constructor(
    private readonly request: Request,
    private readonly response: Response,
  ) {
    response.once('close', () => {
      if (this.#isGone) for (const session of this.#sessions()) void session.abort(new ClientGone());
    });
  }

  unit(sequelize: Sequelize): Promise<RequestUnit> {
    return openUnit(this.#session('write', sequelize));
  }

  readSession(sequelize: Sequelize): Promise<ReadSession> {
    return openReadSession(this.#session('read', sequelize));
  }

  /** Runs reads; the database refuses other statements. They are part of the session that the parameters began, if they did. */
  runRead<T>(sequelize: Sequelize, work: () => T): T {
    return runInSession(this.#begun(sequelize) ?? this.#session('get', sequelize), work);
  }

  /**
   * Runs reads without code of the user's. They need no session: no code would join it, and the first session of a process makes
   * each promise after it dearer. They leave one that the request is in, as other reads do.
   */
  runPlainRead<T>(sequelize: Sequelize, work: () => T): T {
    const isAlone = !this.#begun(sequelize) && !currentSession(sequelize);
    return isAlone ? work() : this.runRead(sequelize, work);
  }

  /** Runs reads that have to see one moment of one server. */
  runSnapshot<T>(sequelize: Sequelize, work: () => T): T {
    return runInSession(this.#begun(sequelize) ?? this.#session('read', sequelize), work);
  }

  /** Runs writes that belong together; their transaction begins with the first query. */
  runWrite<T>(sequelize: Sequelize, work: () => T): T {
    return runInSession(this.#session('write', sequelize), work);
  }

  /** Runs work in the session that the parameters began, if they did: the unit of work, or in a GET the read session. */
  runAdded<T>(work: () => T): T {
    const begun =
      this.#of('write')[0] ?? (SAFE_METHODS.has(this.request.method) ? this.#of('read')[0] : undefined);
    return begun ? runInSession(begun.session, work) : work();
  }

  /** True while there is a write that is not committed. */
  get hasWrites(): boolean {
    return this.#of('write').length > 0;
  }

  /** Commits everything; writes not when the client has gone, who would not learn of it. */
  commit(): Maybe<void> {
    if (this.#isGone && this.hasWrites) throw new ClientGone();
    const commitBehind = (before: Maybe<void>, session: DatabaseSession) =>
      then(before, () => session.commit());
    const committed = this.#own().reduce<Maybe<void>>(commitBehind, undefined);
    return then(committed, () => this.#leaveJoined());
  }

  #leaveJoined(): void {
    if (this.#joined.length === 0) return;
    this.#open = this.#open.filter(({ session }) => !this.#joined.includes(session));
    this.#joined = [];
  }

  /** Forgets the committed sessions, so that the next part of a long request has sessions of its own. */
  renew(): void {
    this.#open = [];
  }

  /** Rolls back the sessions that are not committed. Never throws. */
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
    return this.#find('write', sequelize) ?? this.#find('read', sequelize);
  }

  #find(mode: Mode, sequelize: Sequelize): DatabaseSession | undefined {
    return this.#open.find((open) => open.mode === mode && open.sequelize === sequelize)?.session;
  }

  #of(mode: Mode): readonly OpenSession[] {
    return this.#open.filter((open) => open.mode === mode);
  }

  /** Writes last: when the others cannot be ended, they are rolled back. */
  #sessions(): DatabaseSession[] {
    return [...this.#of('get'), ...this.#of('read'), ...this.#of('write')].map(({ session }) => session);
  }

  /** Sessions that the request ends. */
  #own(): DatabaseSession[] {
    return this.#sessions().filter((session) => !this.#joined.includes(session));
  }

  /** The unit of work that the running code is in. */
  #join(mode: Mode, sequelize: Sequelize): DatabaseSession | undefined {
    const outer = mode === 'write' ? joinableSession(sequelize, 'write') : undefined;
    if (outer && !this.#joined.includes(outer)) this.#joined = [...this.#joined, outer];
    return outer;
  }

  #begin(mode: Mode, sequelize: Sequelize): DatabaseSession {
    return new DatabaseSession(sequelize, mode, {
      logger: requestLogger(this.request),
      settings: requestSettings(this.request),
      owner: () => methodName(this.action),
      ...(mode === 'read' ? SNAPSHOT : null),
    });
  }

  #session(mode: Mode, sequelize: Sequelize): DatabaseSession {
    const known = this.#find(mode, sequelize);
    const session = known ?? this.#join(mode, sequelize) ?? this.#begin(mode, sequelize);
    if (!known) this.#open = [...this.#open, { mode, sequelize, session }];
    // It may have gone while a parameter was waited for.
    if (this.#isGone) void session.abort(new ClientGone());
    return session;
  }
}

/** Name of a method in the user's code. Each application has a class of its own, which extends the user's. */
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
