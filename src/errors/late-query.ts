/** The error of a query that comes when its transaction has ended. */
import { survivable } from '../util/late-rejections.js';

/** Sequelize's own text begins in the same way, and names no mend. @param finished what has ended the transaction */
export function lateQuery(finished: string, sql: string): Error {
  const error = new Error(
    `${finished} has been called on this transaction before this query came: its unit of work is over. Put await before each call that ` +
      'belongs to a unit of work, or to a request.',
  );
  return survivable(Object.assign(error, { sql }));
}
