/**
 * Cursors: `base64url(payload) + '.' + tag`. The payload holds a version, a digest of the list it belongs to, and key
 * values; the tag is an HMAC with the application's secret, or a checksum without one. A checksum finds accidents, not
 * forgers, and needs not: the values are only compared with columns that the client may sort by.
 */
import { createHmac, createSecretKey, hash, timingSafeEqual } from 'node:crypto';
import type { ResourcePlan, SortTerm } from '../plan/resource-plan.js';
import { InvalidQueryError } from '../schema/request-issue.js';
import { BoundedCache } from '../util/bounded-cache.js';
import type { Keyset } from './keyset.js';
import type { Deleted, Filter, RelatedFilter } from './list-query.js';

/** Changes when the meaning of a payload does; cursors of another version are malformed. */
const VERSION = 1;
/** Long enough for every text that fits into a request: Node takes 16 kB of headers, the address included. */
export const CURSOR_LENGTH = 12_288;
/** Characters of base64url: multiples of four, of which each says six bits that no other spelling says. */
const DIGEST_LENGTH = 12;
const TAG_LENGTH = 24;

/** The list that a cursor belongs to. */
export interface CursorScope {
  readonly plan: ResourcePlan;
  readonly sort: readonly SortTerm[];
  readonly filter: Filter | null;
  /** Tells the rows that the request may see from those of others; empty for all. */
  readonly access: string;
  /** Soft-deleted rows; undefined is none of them. */
  readonly deleted?: Deleted | undefined;
}

/** Makes and reads cursors. */
export interface CursorCodec {
  encode(keyset: Keyset, scope: CursorScope): string;
  /** @throws InvalidCursorError */
  decode(cursor: string, scope: CursorScope, parameter: 'after' | 'before'): Keyset;
}

/** Makes the tag of a payload. */
type Tagger = (payload: string) => string;

/** Without a secret: the same on every instance of an application, and no promise. */
const checksum: Tagger = (payload) => hash('sha256', payload, 'base64url').slice(0, TAG_LENGTH);

function signature(secret: string): Tagger {
  // Read once: a text would be read again for each tag.
  const key = createSecretKey(secret, 'utf8');
  return (payload) => createHmac('sha256', key).update(payload).digest('base64url').slice(0, TAG_LENGTH);
}

/**
 * A codec.
 *
 * @param secrets the first signs, all of them verify; none means checksums
 */
export function createCursorCodec(secrets: readonly string[]): CursorCodec {
  const taggers = secrets.length > 0 ? secrets.map(signature) : [checksum];
  const [makeTag] = taggers as [Tagger];
  const isAuthentic = (payload: string, tag: string): boolean =>
    // Every key is tried, so that the time tells nothing of which one fits.
    taggers.map((tagger) => isSame(tag, tagger(payload))).includes(true);

  return Object.freeze({
    encode({ values, isInclusive }: Keyset, scope: CursorScope): string {
      const content = [VERSION, digestOf(scope), isInclusive ? 1 : 0, ...values];
      const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
      return `${payload}.${makeTag(payload)}`;
    },

    decode(cursor: string, scope: CursorScope, parameter: 'after' | 'before'): Keyset {
      const malformed = (): never => {
        throw new InvalidCursorError('cursor.malformed', parameter);
      };
      if (cursor.length > CURSOR_LENGTH) malformed();
      const [payload = '', tag = '', ...rest] = cursor.split('.');
      const bytes = decodeCanonical(payload);
      if (rest.length > 0 || !bytes || !isAuthentic(payload, tag)) return malformed();
      const content = readContent(bytes) ?? malformed();
      const { digest, keyset } = content;
      if (digest !== digestOf(scope) || keyset.values.length !== scope.sort.length) {
        throw new InvalidCursorError('cursor.mismatch', parameter);
      }
      return keyset;
    },
  });
}

/** In a time that does not tell how much of the tag is right. */
function isSame(tag: string, expected: string): boolean {
  const bytes = Buffer.from(tag);
  return bytes.length === TAG_LENGTH && timingSafeEqual(bytes, Buffer.from(expected));
}

/** Base64url has several spellings of one value; only the one we write is accepted, so that a cursor has one form. */
function decodeCanonical(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return text !== '' && bytes.toString('base64url') === text ? bytes : null;
}

function readContent(payload: Buffer) {
  const content = parseJson(payload.toString());
  if (!Array.isArray(content)) return null;
  const [version, digest, inclusive, ...values] = content as unknown[];
  const isWhole =
    version === VERSION &&
    typeof digest === 'string' &&
    (inclusive === 0 || inclusive === 1) &&
    values.every((value) => value === null || (typeof value === 'string' && !value.includes('\0')));
  if (!isWhole) return null;
  const keyset = { values: Object.freeze(values as (string | null)[]), isInclusive: inclusive === 1 };
  return { digest, keyset: Object.freeze(keyset) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Digests of lists of all rows, by the order: there are few of them, and each comes again. Those of tenants are many. */
const digests = new WeakMap<ResourcePlan, BoundedCache<string>>();

/** The typed filter, not its text: blanks and spellings do not make another list. */
function digestOf(scope: CursorScope): string {
  const { plan, sort, filter, access, deleted } = scope;
  if (filter !== null || access !== '' || deleted) return computeDigest(scope);
  const known = digests.get(plan) ?? new BoundedCache<string>();
  digests.set(plan, known);
  const order = sort.map(({ attribute, descending }) => `${descending ? '-' : '+'}${attribute}`);
  return known.get(order.join('\0'), () => computeDigest(scope));
}

function computeDigest({ plan, sort, filter, access, deleted }: CursorScope): string {
  const scope = [
    plan.name,
    plan.prefix,
    sort.map(({ attribute, descending }) => [attribute, descending]),
    filter,
    ...(access === '' && !deleted ? [] : [access]),
    ...(deleted ? [deleted] : []),
  ];
  return hash('sha256', JSON.stringify(scope, nameOfTarget), 'base64url').slice(0, DIGEST_LENGTH);
}

/** Of another table in a filter, its name tells which it is. */
function nameOfTarget(member: string, value: unknown): unknown {
  return member === 'target' ? (value as RelatedFilter['target']).name : value;
}

/**
 * A cursor that was not made by this list: damaged, forged, or made for another resource, order or filter. Answered
 * with 400 by the list route itself.
 *
 * @example
 * ```ts
 * override async list(query: ListQuery, context: CrudContext<City>) {
 *   return super.list(query, context).catch((error: unknown) => {
 *     // A place whose values the columns cannot have; this application starts over.
 *     if (error instanceof InvalidCursorError && query.kind === 'cursor')
 *       return super.list({ ...query, after: null, before: null }, context);
 *     throw error;
 *   });
 * }
 * ```
 */
export class InvalidCursorError extends InvalidQueryError {
  override readonly name = 'InvalidCursorError';

  constructor(code: keyof typeof DETAILS, parameter: 'after' | 'before') {
    super([{ parameter, code, detail: DETAILS[code] }]);
  }
}

/** Why a cursor is refused, by its code, which is part of the API. */
const DETAILS = {
  'cursor.malformed': 'This is not a cursor of this API; take it unchanged from next_cursor or prev_cursor.',
  'cursor.mismatch':
    'The cursor was made for another list: the resource, sort or q is not the same. Start again without a cursor.',
};
