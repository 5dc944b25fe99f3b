/** Finds texts that the body of an error must not show: SQL, names of the database, errors of libraries, stacks, paths, addresses. */
import { homedir, hostname, tmpdir } from 'node:os';

/** Each kind of leak, with a pattern of it in a text or in JSON. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['SQL', /\b(?:SELECT|INSERT INTO|DELETE FROM|RETURNING|ORDER BY|LEFT JOIN|WHERE \\?")|UPDATE \\?"/],
  ['a message of PostgreSQL', messageOfPostgres()],
  ['a name of the database', /\b[a-z]\w*_(?:pkey|fkey|idx|seq|excl)\b|\b(?:constraint|relation|schema) \\?"/],
  ['an error of a library', /\b(?:Sequelize\w*Error|AggregateError|E(?:CONN|HOST|PIPE|TIMEDOUT|ADDR)\w*)\b/],
  ['a member of an error', /"(?:sql|parameters|stack|parent|original|sqlState|routine|severity|cause)":/],
  ['a stack', /(?:\\n|\n|<br>)(?:\s|&nbsp;){0,9}at |\bat (?:Object|async|new|process)\b[. ]|\bnode:[a-z_]+/],
  [
    'a file',
    /\bnode_modules\b|file:\/\/|\.[cm]?[jt]s:\d+|(?:^|[\s"'(])\/(?:home|usr|root|var|etc|opt|tmp|Users)\//,
  ],
  ['an address', /\b(?:postgres(?:ql)?|rediss?):\/\/|\b(?:127\.0\.0\.1|localhost|::1)\b:?\d*/],
  ['a database of the tests', /\b[a-z]+_[0-9a-f]{12}\b/],
];

/** This machine's own paths and name. Short ones could be words of any text. */
const OWN = [process.cwd(), homedir(), tmpdir(), hostname()].filter((text) => text.length > 5);

/**
 * The first leak in a text.
 *
 * @param secrets texts that no answer may hold, such as passwords
 * @param said texts of the client, which an answer may repeat
 */
export function findLeak(text: string, secrets: readonly string[] = [], said = ''): string | undefined {
  for (const [kind, pattern] of KINDS) {
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined && !said.includes(found)) return `${kind}: ${found}`;
  }
  const secret = [...OWN, ...secrets].find((each) => text.includes(each) && !said.includes(each));
  return secret === undefined ? undefined : `a secret: ${secret}`;
}

function messageOfPostgres(): RegExp {
  const messages = [
    'violates',
    'duplicate key',
    'invalid input syntax',
    'syntax error at',
    'canceling statement',
    'terminating connection',
    'authentication failed',
    'deadlock detected',
    'could not serialize',
    'permission denied for',
    'null value in column',
    'out of range for type',
    'too long for type',
    '(?:relation|column|function|operator|type|role|database) .{1,80} does not exist',
  ];
  return new RegExp(`\\b(?:${messages.join('|')})\\b`);
}
