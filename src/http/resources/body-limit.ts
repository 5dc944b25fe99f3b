/** The `bodyLimit` option. */
import bytes from 'bytes';
import { ConfigError } from '../../util/config-error.js';
import { showValue } from '../../util/show-value.js';

const DEFAULT_BODY_LIMIT = 100 * 1024;

/**
 * `'100kb'` or a number of bytes -> bytes. Checked here, because a limit that is not understood must not mean no limit
 * (CVE-2026-12590).
 *
 * @throws ConfigError
 */
export function parseBodyLimit(limit: string | number | undefined): number {
  if (limit === undefined) return DEFAULT_BODY_LIMIT;
  const parsed = typeof limit === 'number' ? limit : bytes.parse(limit);
  if (parsed !== null && Number.isSafeInteger(parsed) && parsed >= 1) return parsed;
  throw new ConfigError([
    `bodyLimit is ${showValue(limit)}; use a number of bytes from 1, or a text such as '100kb'.`,
  ]);
}
