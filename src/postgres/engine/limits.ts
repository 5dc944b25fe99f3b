/** Limits of a connection, in milliseconds. pg reads the digits at the beginning of a text: `'30s'` as 30 ms. */
import { throwProblems } from '../../util/config-error.js';
import { showValue } from '../../util/option-problems.js';

/** Names of the options of pg. */
export const LIMITS = [
  'connectionTimeoutMillis',
  'lock_timeout',
  'statement_timeout',
  'query_timeout',
  'idle_in_transaction_session_timeout',
] as const;

/** The longest delay of a timer, and the highest limit of PostgreSQL: 24 days. */
export const NO_LIMIT = 2_147_483_647;

type Options = Readonly<Record<string, unknown>>;

/**
 * The limits among options, as numbers.
 *
 * @param owner the beginning of their names in messages, such as `dialectOptions.`
 * @throws ConfigError for each that is no number of milliseconds
 */
export function readLimits(options: Options, owner = ''): Readonly<Record<string, number>> {
  const given = LIMITS.filter((name) => name in options);
  const wrong = given.filter((name) => !isLimit(options[name]));
  throwProblems(
    wrong.map(
      (name) =>
        `${owner}${name} is ${showValue(options[name])}; use a whole number of milliseconds, 0 for no limit.`,
    ),
  );
  return Object.fromEntries(given.map((name) => [name, Number(options[name])]));
}

function isLimit(value: unknown): boolean {
  // The types of pg have false for none.
  if (value === false) return true;
  const limit = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isInteger(limit) && Number(limit) >= 0 && Number(limit) <= NO_LIMIT;
}

/** The limits that `options` of a connection sets, as in `-c statement_timeout=20s`. PostgreSQL would prefer one that is sent beside it. */
export function limitsSetBy({ options = '' }: Options): readonly string[] {
  return LIMITS.filter((name) =>
    new RegExp(String.raw`(?:^|\s)(?:-c\s*|--)${name.replaceAll('_', '[-_]')}=`, 'i').test(String(options)),
  );
}
