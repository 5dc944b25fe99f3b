/** Writes the index advice of an application to its log. */

import { adviseIndexes } from '../persistence/index-advice.js';
import type { Logger } from '../plan/logger.js';
import type { Resource } from './resource.js';

/** One warning for each order or filter that no index serves. A database that cannot be asked now is not an error. */
export async function warnMissingIndexes(resources: readonly Resource[], logger: Logger): Promise<void> {
  try {
    for (const line of await adviseIndexes(resources.map(({ plan }) => plan))) logger.warn(line);
  } catch {
    logger.debug('The indexes could not be checked, because the database did not answer.');
  }
}
