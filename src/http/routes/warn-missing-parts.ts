/** Writes to the log of an application what its database does not have: tables, columns and indexes. */

import { adviseIndexes } from '../../persistence/engine/index-advice.js';
import { checkTables } from '../../persistence/engine/table-check.js';
import type { Logger } from '../../util/logger.js';
import type { Resource } from '../resources/resource.js';

/**
 * One error for each table or column that is missing, and one warning for each order or filter that no index serves. None
 * of them stops the application, whose other resources work: a migration may be under way. A database that cannot be asked
 * now is not an error.
 */
export async function warnMissingParts(resources: readonly Resource[], logger: Logger): Promise<void> {
  try {
    const { problems, plans } = await checkTables(resources.map(({ plan }) => plan));
    for (const line of problems) logger.error(line);
    for (const line of await adviseIndexes(plans)) logger.warn(line);
  } catch {
    logger.debug('The tables and indexes could not be checked: the database did not answer, or refused it.');
  }
}
