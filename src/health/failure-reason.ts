/** Why a back end did not answer, in words that are safe to show to anybody. */

/** By a driver's code; Redis says it in the first word of its message only. */
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ECONNREFUSED: 'connection refused',
    ECONNRESET: 'connection lost',
    EPIPE: 'connection lost',
    ETIMEDOUT: 'timed out',
    EHOSTUNREACH: 'host not reachable',
    ENOTFOUND: 'host not found',
    EAI_AGAIN: 'host not found',
    // PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html
    '28P01': 'authentication failed',
    '28000': 'authentication failed',
    '3D000': 'no such database',
    '53300': 'too many connections',
    ENOENT: 'connection refused',
    // Node: https://nodejs.org/api/tls.html#x509-certificate-error-codes
    SELF_SIGNED_CERT_IN_CHAIN: 'certificate not trusted',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate not trusted',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate not trusted',
    UNABLE_TO_GET_ISSUER_CERT: 'certificate not trusted',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate not trusted',
    ERR_TLS_CERT_ALTNAME_INVALID: 'certificate of another host',
    CERT_HAS_EXPIRED: 'certificate expired',
    '57P01': 'starting up or shutting down',
    '57P02': 'starting up or shutting down',
    '57P03': 'starting up or shutting down',
    // ClickHouse: AUTHENTICATION_FAILED, REQUIRED_PASSWORD, WRONG_PASSWORD, UNKNOWN_USER, UNKNOWN_DATABASE.
    '516': 'authentication failed',
    '194': 'authentication failed',
    '193': 'authentication failed',
    '192': 'authentication failed',
    '81': 'no such database',
    WRONGPASS: 'authentication failed',
    NOAUTH: 'authentication failed',
    LOADING: 'starting up or shutting down',
  }),
);

/** Drivers raise these without a code. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/connection (?:is closed|terminated)|socket hang up/i, 'connection lost'],
  [/^(?:command timed out|timeout)\b/i, 'timed out'],
  [/does not support SSL/, 'no TLS'],
  [/^The server (?:refuses|accepts) writes$/, 'another kind of server'],
];

/** The reason of an error, found by its codes. Its message is never passed on: it may name hosts and users. */
export function failureReason(error: unknown): string {
  for (const { code, message } of chainOf(error, new Set())) {
    const text = typeof message === 'string' ? message : '';
    const reason =
      REASONS.get(String(code)) ??
      REASONS.get(text.split(' ')[0] ?? '') ??
      MESSAGES.find(([pattern]) => pattern.test(text))?.[1];
    if (reason !== undefined) return reason;
  }
  return 'failed';
}

/** An error, its causes, and the members of an aggregate (one for each address of a host). */
function chainOf(error: unknown, seen: Set<unknown>): readonly Record<string, unknown>[] {
  if (typeof error !== 'object' || error === null || seen.has(error)) return [];
  seen.add(error);
  const known = error as Record<string, unknown>;
  const { cause, errors, lastNodeError } = known;
  const inner = [cause, lastNodeError, ...(Array.isArray(errors) ? errors : [])];
  return [known, ...inner.flatMap((each) => chainOf(each, seen))];
}
