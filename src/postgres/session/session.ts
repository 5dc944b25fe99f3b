/** Database session of the running code. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sequelize, Transaction } from 'sequelize';

/** A session, as far as queries that want to join it are concerned. */
export interface SessionScope {
  readonly sequelize: Sequelize;
  /** True where the database refuses writes in it; not when it is over. */
  readonly isReadOnly: boolean;
  /** The transaction for a query, begun when one first needs it; null for a query that needs none. */
  transactionFor(query: 'select' | 'other'): Promise<Transaction | null>;
  /** Notes a call that is part of it: it does not end before. @param call what was called, for people */
  note(promise: Promise<unknown>, call: string): void;
  /** Has the process go on where nothing has awaited what failed with this error. */
  forgive(error: unknown): void;
}

/** Work whose queries share one transaction, as far as a repository is concerned. */
export interface TransactionScope {
  readonly transaction: Transaction;
}

const storage = new AsyncLocalStorage<SessionScope>();

/** Runs work inside a session: what it awaits, and what that awaits, is in it too. */
export function runInSession<T>(session: SessionScope, work: () => T): T {
  return storage.run(session, work);
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

/** The session that the running code is in, if that is one of this Sequelize instance. */
export function currentSession(sequelize: Sequelize | undefined): SessionScope | undefined {
  const session = storage.getStore();
  return session && session.sequelize === sequelize ? session : undefined;
}
