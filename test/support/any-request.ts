/** Arbitrary requests: bodies, query strings, paths and headers that no honest client sends, and some that are right in one place. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

/** A request as bytes. */
export interface AnyRequest {
  readonly method: string;
  /** In ASCII, without white space. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null where there is none. */
  readonly body: Buffer | null;
}

/** A route that takes requests. */
export interface Target {
  readonly method: string;
  /** Its path, with `:id` in the place of an id. */
  readonly path: string;
  /** Bodies that it might accept, as texts; null where it takes none. */
  readonly body: fc.Arbitrary<string> | null;
}

/** Routes and texts that the requests are made of. */
export interface Subject {
  readonly targets: readonly Target[];
  /** Texts of the application: ids, names of attributes, and cursors. */
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly cursors: readonly string[];
}

/** Names that objects inherit, that code calls, or that a merge would change a prototype by. */
const INHERITED = [
  '',
  ...(
    '__proto__ constructor prototype toString valueOf hasOwnProperty isPrototypeOf __defineGetter__ ' +
    'toJSON then length get dataValues isNewRecord inspect name 0 -1'
  ).split(' '),
];

/** Unicode of every kind, signs of SQL and JSON, and texts like values of other types. */
const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udc00\ud800',
  '\ufeff',
  '\u{1f600}',
  'e\u0301',
  '\u202e\u200b',
  '\u2028',
  '\x7f\x1b',
  '\uffff',
  "'; DROP TABLE anythings; --",
  '%_\\',
  '\\x00',
  'x'.repeat(300),
  ...(
    'a $1 %s {"a":1} [] {} { null true NaN Infinity -infinity now 0 -0 1e3 0x10 9223372036854775808 ' +
    '2026-02-30 2026-01-31 2026-01-31T08:00:00Z 2026-01-31T08:00:00+15:59 24:00:00 ' +
    '00000000-0000-0000-0000-000000000000 AA== (,) 10.0.0.1/33 10.0.0.0/8 08:00:2b:01:02:03 [1,2) ' +
    '[2,1) {[1,2),(,)} [infinity,-infinity] empty P1DT-2.5S PT2562047788H54.775808S 101 -1.50 ' +
    '<script> ../..'
  ).split(' '),
];

/** Numbers as a body writes them; those beyond a double have no other form. */
const NUMBERS = [
  `0.${'1'.repeat(400)}`,
  ...(
    '0 -0 1 -1 2 1.5 1E2 1e400 -1e400 1e-400 1e308 5e-324 2147483647 2147483648 9007199254740993 ' +
    '9223372036854775808'
  ).split(' '),
];

/** Every code point but the halves of pairs. The unit `binary` is the same, and takes a second to make a map of all of them. */
const ANY_LETTER = fc
  .oneof(fc.integer({ max: 0xd7ff, min: 0 }), fc.integer({ max: 0x10ffff, min: 0xe000 }))
  .map((code) => String.fromCodePoint(code));

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  fc.constantFrom(...INHERITED),
  fc.string({ unit: ANY_LETTER, maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
);

/** JSON of anything, deep and with the same key twice, as text. */
export function anyJson(names: readonly string[]): fc.Arbitrary<string> {
  const key = fc.oneof(fc.constantFrom(...names, ...INHERITED), text).map((name) => JSON.stringify(name));
  return fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(
        fc.constantFrom('null', 'true', 'false', ...NUMBERS),
        text.map((each) => JSON.stringify(each)),
      ),
      fc.constantFrom('[]', '{}', '[null]', '[[]]', '[{}]'),
      fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join()}]`),
      fc
        .array(fc.tuple(key, tie('value')), { maxLength: 4 })
        .map((members) => `{${members.map((member) => member.join(':')).join()}}`),
      fc
        .tuple(fc.constantFrom('[', '{"a":', '[{"__proto__":', '{"next":'), fc.nat(40), tie('value'))
        .map(([opening, depth, inner]) => nested(opening, depth, inner)),
    ),
  })).value;
}

function nested(opening: string, depth: number, inner: string): string {
  const closing = [...opening]
    .reverse()
    .flatMap((each) => (each === '[' ? ']' : each === '{' ? '}' : ''))
    .join('');
  return opening.repeat(depth) + inner + closing.repeat(depth);
}

/** Right bodies in which one value is another, or one member more or less. */
export function withOneMistake(body: fc.Arbitrary<object>, names: readonly string[]): fc.Arbitrary<string> {
  const json = anyJson(names);
  const change = fc.record({
    place: fc.nat(),
    value: json,
    how: fc.constantFrom('none', 'none', 'replace', 'replace', 'add', 'remove', 'repeat'),
    name: fc.constantFrom(...names, ...INHERITED),
  });
  return fc.tuple(body, change).map(([right, { place, value, how, name }]) => {
    const members = Object.entries(right).map(
      ([key, member]) => [JSON.stringify(key), JSON.stringify(member)] as const,
    );
    const at = members.length > 0 ? place % members.length : 0;
    const [key = '"a"'] = members[at] ?? [];
    if (how === 'replace') members[at] = [key, value];
    if (how === 'add') members.splice(at, 0, [JSON.stringify(name), value]);
    if (how === 'remove') members.splice(at, 1);
    if (how === 'repeat') members.push([key, value]);
    return `{${members.map((member) => member.join(':')).join()}}`;
  });
}

/** Several of them, with something else among them. */
export function manyOf(body: fc.Arbitrary<string>, names: readonly string[]): fc.Arbitrary<string> {
  return fc
    .array(fc.oneof({ weight: 4, arbitrary: body }, anyJson(names)), { maxLength: 4 })
    .map((items) => `[${items.join()}]`);
}

/** Mostly the usual. */
function rarely<T>(arbitrary: fc.Arbitrary<T>, usual: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, arbitrary);
}

/** Any request to any of the routes. */
export function anyRequest(subject: Subject): fc.Arbitrary<AnyRequest> {
  return fc.constantFrom(...subject.targets).chain((target) => {
    const { method, path } = target;
    return fc
      .record({
        id: anyId(subject),
        // A parser before the body mostly accepts it.
        query: target.body ? rarely(anyQuery(subject), '') : anyQuery(subject),
        headers: rarely(anyHeaders(), {}),
        sent: target.body
          ? anyBody(target.body, subject)
          : rarely<SentBody | null>(anyBody(fc.constant('{}'), subject), null),
      })
      .map(({ id, query, headers, sent }) => ({
        method,
        path: `${path.replace(':id', id)}${path.includes('?') ? query.replace('?', '&') : query}`,
        headers: sent ? { 'content-type': 'application/json', ...sent.headers, ...headers } : headers,
        body: sent?.bytes ?? null,
      }));
  });
}

/** Percent-encoded, and wrongly so. */
function encoded(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}

const WRONG_ENCODINGS = '%00 %ff %ED%A0%80 %C0%AE % %2 %zz %2e%2e + %2F %25 .'.split(' ');

function anyId({ ids }: Subject): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...ids).map(encoded) },
    fc.constantFrom(...WRONG_ENCODINGS),
    text.map(encoded),
    fc.constantFrom('0', '-1', '1e3', '1'.repeat(30), 'x'.repeat(5_000), encoded('\u{1f600}'.repeat(400))),
  );
}

const SYNTAX = [
  ...'()\'"\\*;,=<>!~ %&|'.split(''),
  ...'== != =in= =out= =lt= =ge= =between= =like= =ilike= =isnull= =any= =contains= = true 1 - .'.split(' '),
];

function anyQuery({ names, cursors }: Subject): fc.Arbitrary<string> {
  const name = fc.constantFrom(...names, ...INHERITED);
  const list = fc
    .array(fc.tuple(fc.constantFrom('', '-', '+', '--', ' '), name), { maxLength: 4 })
    .map((items) => items.map((item) => item.join('')).join());
  const comparison = fc
    .tuple(name, fc.constantFrom(...SYNTAX.filter((each) => each.includes('='))), text)
    .map((parts) => parts.join(''));
  const filter = fc.oneof(
    comparison,
    fc.array(comparison, { maxLength: 4 }).map((each) => each.join(';')),
    fc.array(fc.oneof(name, fc.constantFrom(...SYNTAX), text), { maxLength: 8 }).map((each) => each.join('')),
    fc.nat(200).map((depth) => `${'('.repeat(depth)}id==1${')'.repeat(depth)}`),
  );
  const cursor = fc
    .tuple(fc.constantFrom('', ...cursors), fc.nat(), fc.oneof(fc.constant(''), text))
    .map(([real, place, other]) => {
      const at = real === '' ? 0 : place % real.length;
      return real.slice(0, at) + other + real.slice(at + (place % 3));
    });
  const number = fc.oneof(
    fc.constantFrom(...NUMBERS),
    fc.constantFrom('', '00', '1.0', ' 1', '٣', '0x1', '1_0', '5', '100', '101'),
  );
  const flag = fc.constantFrom('true', 'false', '1', 'TRUE', '', 'exact', 'capped', 'none', 'with', 'only');
  const value = fc.oneof(
    fc.tuple(fc.constant('q'), filter),
    fc.tuple(fc.constantFrom('sort', 'fields', 'include', 'parts.sort', 'parts.fields'), list),
    fc.tuple(fc.constantFrom('after', 'before'), fc.oneof(fc.constantFrom('', ...cursors), cursor)),
    fc.tuple(fc.constantFrom('size', 'page', 'max_affected', 'parts.size'), number),
    fc.tuple(fc.constantFrom('count', 'deleted', 'atomic', 'dry_run'), flag),
    fc.tuple(fc.oneof(name, text), text),
  );
  const parameter = fc.oneof(
    { weight: 9, arbitrary: value.map(([key, given]) => `${encoded(key)}=${encoded(given)}`) },
    fc.tuple(value, fc.constantFrom(...WRONG_ENCODINGS)).map(([[key], wrong]) => `${encoded(key)}=${wrong}`),
    fc.constantFrom('&', '=', '?', '=&=', 'q', 'sort', 'atomic=false', 'dry_run=true', 'deleted=with'),
  );
  return fc.oneof(fc.constant(''), {
    weight: 6,
    arbitrary: fc.array(parameter, { minLength: 1, maxLength: 3 }).map((each) => `?${each.join('&')}`),
  });
}

/** Texts that Node's client can send in a header. */
const headerText = fc.oneof(
  fc.constantFrom(
    '',
    ',',
    '"',
    '""',
    '"a',
    'W/"1"',
    '"1"',
    '"1", "2"',
    '*',
    '*, "1"',
    'x'.repeat(4_000),
    '\xe9',
    '__proto__',
  ),
  fc.string({ maxLength: 8 }),
);

function anyHeaders(): fc.Arbitrary<Record<string, string>> {
  const header = fc.oneof(
    fc.tuple(fc.constantFrom('if-match', 'if-none-match', 'idempotency-key', 'prefer'), headerText),
    fc.tuple(fc.constant('prefer'), fc.constantFrom('return=minimal', 'return=', 'handling=strict, a="b')),
    fc.tuple(
      fc.constantFrom('accept', 'accept-encoding', 'if-modified-since', 'range', 'x-request-id', 'origin'),
      headerText,
    ),
    fc.tuple(fc.constant('x-http-method-override'), fc.constantFrom('DELETE', 'TRACE')),
  );
  return fc
    .array(header, { minLength: 1, maxLength: 3 })
    .map((each): Record<string, string> => Object.fromEntries(each));
}

interface SentBody {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Encodings of a body: the name in the header, and a function that makes the bytes, not always rightly. */
const ENCODINGS: readonly (readonly [name: string, encode: (bytes: Buffer) => Buffer])[] = [
  ['gzip', (bytes) => gzipSync(bytes)],
  ['br', (bytes) => brotliCompressSync(bytes)],
  ['deflate', (bytes) => deflateSync(bytes)],
  ['gzip', (bytes) => bytes],
  ['gzip', (bytes) => gzipSync(bytes).subarray(0, -5)],
  ['identity', (bytes) => bytes],
  ['gzip, gzip', (bytes) => gzipSync(gzipSync(bytes))],
  ['constructor', (bytes) => bytes],
];

const MEDIA_TYPES = [
  'application/json; charset=utf-8',
  '',
  ...(
    'application/json;charset=utf-16 application/json; application/merge-patch+json text/plain ' +
    'application/x-www-form-urlencoded multipart/form-data */*'
  ).split(' '),
];

function anyBody(right: fc.Arbitrary<string>, { names }: Subject): fc.Arbitrary<SentBody> {
  const json = fc.oneof({ weight: 6, arbitrary: right }, anyJson(names));
  const bytes = fc.oneof(
    { weight: 30, arbitrary: json.map((each) => Buffer.from(each)) },
    // Broken off, or with bytes before it or in it.
    fc.tuple(json, fc.nat()).map(([each, place]) => Buffer.from(each).subarray(0, place % (each.length + 1))),
    fc
      .tuple(fc.constantFrom('\ufeff', ' ', '\0', '\xff', ")]}',\n"), json, fc.boolean())
      .map(([more, each, isBytes]) =>
        Buffer.concat([Buffer.from(more, isBytes ? 'latin1' : 'utf8'), Buffer.from(each)]),
      ),
    fc
      .constantFrom('', ' ', 'null', '{"a":1}{}', '{"a":01}', '{a:1}', 'NaN')
      .map((each) => Buffer.from(each)),
  );
  return fc
    .record({
      bytes,
      encoding: rarely<(typeof ENCODINGS)[number] | null>(fc.constantFrom(...ENCODINGS), null),
      type: rarely<string | null>(fc.constantFrom(...MEDIA_TYPES), null),
    })
    .map(({ bytes: plain, encoding, type }) => ({
      bytes: encoding ? encoding[1](plain) : plain,
      headers: {
        ...(encoding ? { 'content-encoding': encoding[0] } : {}),
        ...(type === null ? {} : { 'content-type': type }),
      },
    }));
}
