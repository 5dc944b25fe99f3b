/** Headers that answers of the API have where the application has set none of its own. */
import type { ServerResponse } from 'node:http';
import { headerName, setKnownHeader } from '../request/header-internals.js';

/** An answer is JSON whatever a browser makes of its bytes, and its rows are for the client that has asked. */
export const DEFAULT_HEADERS = Object.freeze({
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
});

/**
 * The headers of answers that scripts of other origins can read only where CORS allows it, for `exposedHeaders` of the package
 * `cors`.
 *
 * @example
 * ```ts
 * app.use(cors({ origin: 'https://app.example.org', exposedHeaders: [...EXPOSED_HEADERS] }));
 * ```
 */
export const EXPOSED_HEADERS: readonly string[] = Object.freeze([
  'ETag',
  'Location',
  'Retry-After',
  'Idempotent-Replayed',
  'X-Request-Id',
  'Server-Timing',
]);

const HEADERS = Object.entries(DEFAULT_HEADERS).map(([name, value]) => ({ name: headerName(name), value }));

/** Sets those that are missing; to be called when the application's own code has had its turn. */
export function setDefaultHeaders(response: ServerResponse): void {
  for (const { name, value } of HEADERS)
    if (!response.hasHeader(name.kept)) setKnownHeader(response, name, value);
}
