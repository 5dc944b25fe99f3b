/** All that a resource may have without an option of its own. */
import { BULK_ENDPOINTS, ENDPOINTS } from '../../src/declare/endpoint.js';

/** Endpoints of a model that marks deleted rows. */
export const EVERY_ENDPOINT = [...ENDPOINTS, ...BULK_ENDPOINTS].filter((each) => each !== 'upsert');

/** Endpoints of a model that removes them. */
export const ENDPOINTS_FOR_GOOD = EVERY_ENDPOINT.filter((each) => each !== 'restore' && each !== 'purge');
