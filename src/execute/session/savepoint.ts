/** Work that joins the session of the running code, and parts of it that are undone alone. */
import type { Sequelize, Transaction } from 'sequelize';
import { describeFault } from '../../errors/database-fault.js';
import { currentSession, isOfStale, SessionTransaction } from '../../postgres/index.js';
import { DatabaseSession, type SavepointEnds, type SessionMode } from './database-session.js';

/** The session that the running code is in, if it is of this kind and goes on. */
export function joinableSession(sequelize: Sequelize, mode: SessionMode): DatabaseSession | undefined {
  const session = currentSession(sequelize);
  return session instanceof DatabaseSession && session.canJoin(mode) ? session : undefined;
}

/** Executes statements in the transaction of a session. */
export function executorOf({ sequelize }: DatabaseSession, transaction: Transaction) {
  return (statement: string) => sequelize.query(statement, { transaction });
}

/**
 * Checks deferred constraints of one part, so that they refuse it and not the commit. They are deferred again
 * afterwards, which no statement but a rollback can do.
 */
const CHECK = 'SAVEPOINT checked; SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK TO SAVEPOINT checked; ';

/** Runs work in a session; a throw undoes its writes, and the session can go on. Those of other branches wait for its end. */
export async function runInSavepoint<T>(
  session: DatabaseSession,
  name: 'unit' | 'item' | 'write' | 'rehearsal',
  work: () => Promise<T>,
  isRepeatable = false,
): Promise<T> {
  const open = async (transaction: Transaction): Promise<SavepointEnds> => {
    // Without a round trip of its own.
    if (
      name === 'write' &&
      transaction instanceof SessionTransaction &&
      (await transaction.openPart(isRepeatable))
    )
      return { release: () => transaction.closePart(), undo: () => transaction.undoPart() };
    const execute = executorOf(session, transaction);
    await execute(`SAVEPOINT ${name}`);
    return {
      release: () => execute(`${name === 'item' ? CHECK : ''}RELEASE SAVEPOINT ${name}`),
      undo: () => execute(`ROLLBACK TO SAVEPOINT ${name}; RELEASE SAVEPOINT ${name}`),
    };
  };
  return session.runUndoable(name, open, work);
}

/**
 * The same for work that may run again: once more where the connection had prepared a statement that is stale. So its statements need no
 * savepoints of their own.
 */
export async function runRepeatably<T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> {
  try {
    return await runInSavepoint(session, 'write', work, true);
  } catch (error) {
    if (!isOfStale(error)) throw error;
    return runInSavepoint(session, 'write', work);
  }
}

/** Attempts of work that deadlocks end. */
const ATTEMPTS = 3;

/**
 * Runs work again where a deadlock has ended it. Everything that it has done has to be undone by then, as in a savepoint of its own.
 *
 * @param attemptsFor attempts in all where an error of another kind ends it. Default: 1
 */
export async function retried<T>(
  work: () => Promise<T>,
  attemptsFor: (error: unknown) => number = () => 1,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const most = describeFault(error)?.isRetryable ? ATTEMPTS : attemptsFor(error);
      if (attempt >= most) throw error;
    }
  }
}
