/** All that a resource may have. */
import { BULK_ENDPOINTS, ENDPOINTS } from '../../src/declare/endpoint.js';

/** Of a model that marks deleted rows. */
export const EVERY_ENDPOINT = [...ENDPOINTS, ...BULK_ENDPOINTS] as const;

/** Of a model that removes them. */
export const ENDPOINTS_FOR_GOOD = EVERY_ENDPOINT.filter((each) => each !== 'restore' && each !== 'purge');
