/** The running code: its database session, and the settings of its request, which row security reads. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { type QueryOptionsWithType, QueryTypes, type Sequelize, type Transaction } from 'sequelize';
import type { Maybe } from '../../util/promises.js';

/** A session, as far as queries that want to join it are concerned. */
export interface SessionScope {
  readonly sequelize: Sequelize;
  /** True where the database refuses writes in it; not when it is over. */
  readonly isReadOnly: boolean;
  /** The transaction for a query, begun when one first needs it; null for a query that needs none. */
  transactionFor(query: 'select' | 'other'): Maybe<Transaction | null>;
  /** @throws Error where the running code goes on in a savepoint that was undone, so that a write would be half of its work */
  refuseLate(): void;
  /**
   * Notes a call that is part of it: it does not end before.
   *
   * @param call its name in a log
   * @returns the same result in another promise, which Node reports where no code awaits it
   */
  note<T>(promise: Promise<T>, call: string): Promise<T>;
  /** Lets the process go on where no code awaits the work that failed with this error. */
  forgive(error: unknown): void;
}

/** Work whose queries share one transaction, as far as a repository is concerned. */
export interface TransactionScope {
  readonly transaction: Transaction;
}

/** True for a transaction of another instance, and so of another database. */
export function isOfOther(transaction: unknown, sequelize: object | undefined): boolean {
  const { sequelize: own } = (transaction ?? {}) as { readonly sequelize?: object };
  return own !== undefined && own !== sequelize;
}

/** A session, and those of other instances around it. */
interface NestedSession {
  readonly session: SessionScope;
  readonly outer: NestedSession | undefined;
}

const sessions = new AsyncLocalStorage<NestedSession>();

/** Runs work inside a session: all promises that it awaits, directly or not, are in it too. Sessions of other instances go on. */
export function runInSession<T>(session: SessionScope, work: () => T): T {
  return sessions.run({ session, outer: ofOthers(sessions.getStore(), session.sequelize) }, work);
}

/** The sessions of other instances: as many as there are instances, however deep the code is nested. */
function ofOthers(nested: NestedSession | undefined, sequelize: Sequelize): NestedSession | undefined {
  if (!nested) return undefined;
  const outer = ofOthers(nested.outer, sequelize);
  if (nested.session.sequelize === sequelize) return outer;
  return outer === nested.outer ? nested : { ...nested, outer };
}

const onSequelize = new AsyncLocalStorage<true>();

/** Runs work whose queries all go through Sequelize, also where our own statements would do. */
export function runOnSequelize<T>(work: () => T): T {
  return onSequelize.run(true, work);
}

/** True where the running code is in such work. */
export function isOnSequelize(): boolean {
  return onSequelize.getStore() === true;
}

/** The innermost session of this Sequelize instance that the running code is in. */
export function currentSession(sequelize: Sequelize | undefined): SessionScope | undefined {
  let nested = sessions.getStore();
  while (nested && nested.session.sequelize !== sequelize) nested = nested.outer;
  return nested?.session;
}

/** Statement that sets the settings of a request: one text for as many settings, and its values. Frozen. */
export interface RequestSettings {
  readonly text: string;
  /** Names and values in turn. */
  readonly values: readonly string[];
  /** The same for requests with the same settings of row security, and for no others; empty for those without. */
  readonly key: string;
}

type Settings = readonly (readonly [name: string, value: string])[];

/**
 * A statement that sets them until the end of its transaction.
 *
 * @param secured those of row security, which decide the rows that a request sees
 * @param added those that say only who it is
 */
export function settingsOf(secured: Settings, added: Settings = []): RequestSettings {
  const values = Object.freeze([...secured, ...added].flat());
  const key = secured.length === 0 ? '' : JSON.stringify(secured.flat());
  return Object.freeze({ text: textFor(secured.length + added.length), values, key });
}

/** By number of settings. */
const texts: string[] = [];

function textFor(count: number): string {
  const call = (index: number): string => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`;
  texts[count] ??= `SELECT ${Array.from({ length: count }, (_, index) => call(index)).join(', ')}`;
  return texts[count];
}

/** Set in each transaction of a request. Statements in no session need them, too. */
const requests = new AsyncLocalStorage<RequestSettings | null>();

/** Runs work, and all that it awaits, with the settings of its request; null for none. */
export function runWithSettings<T>(settings: RequestSettings | null, work: () => T): T {
  return requests.run(settings, work);
}

/** Runs work without any, which costs nothing where there are none. */
export function withoutSettings<T>(work: () => T): T {
  return requests.getStore() ? requests.run(null, work) : work();
}

const OUTSIDE = new AsyncResource('crud-controllers:outside');

/** Runs work of the process itself. It is part of no request, also where a request began it. */
export function runOutside<T>(work: () => T): T {
  return OUTSIDE.runInAsyncScope(work);
}

/** The settings of the request that the running code is part of. */
export function currentSettings(): RequestSettings | null {
  return requests.getStore() ?? null;
}

/** Sets them in a transaction that has begun, or rolls it back. Their values are not logged. */
export async function applySettings(
  sequelize: Sequelize,
  transaction: Transaction,
  { text, values }: RequestSettings,
): Promise<void> {
  const type: QueryTypes.SELECT = QueryTypes.SELECT;
  const options: QueryOptionsWithType<QueryTypes.SELECT> = { type, transaction, logging: false };
  try {
    await sequelize.query(text, { ...options, bind: [...values] });
  } catch (error) {
    await transaction.rollback().catch(() => {});
    throw error;
  }
}
