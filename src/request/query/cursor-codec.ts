/**
 * Cursors, which name places in ordered lists: `base64url(payload) + '.' + tag`. The payload holds a version, a digest of the list
 * that it belongs to, and key values; the tag is an HMAC with the application's secret, or a checksum without one. A checksum finds
 * accidents, and no forgery. That is enough, because the values are only compared with columns that the client may sort by.
 */

import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { isOfAttribute, orderShape, valueShape } from '../../compile/compile-sort.js';
import type { ResourcePlan, SortKey, SortTerm } from '../../compile/resource-plan.js';
import { hasJsonForm } from '../../describe/record.js';
import { InvalidQueryError } from '../../schema/request-issue.js';
import { BoundedCache, perPair } from '../../util/memo.js';
import type { Filter, RelatedFilter } from './predicate.js';
import { createSealedStates, createSealedTexts, type SealedStates } from './sealed-states.js';

/** The values that a row is sorted by, as database text: a JavaScript date would lose microseconds. Null is NULL. */
export type KeyValues = readonly (string | null)[];

/** A place in a list. */
export interface Keyset {
  /** One value for each column of the order. */
  readonly values: KeyValues;
  /** True where the page begins with the row of these values itself. */
  readonly isInclusive: boolean;
  /**
   * In a query, where the values were too long for a cursor: a digest of them. `values` has the primary key's only then, and null
   * for the others. A repository reads them from the row with the key.
   */
  readonly digest?: string;
}

const VALUES_DIGEST_LENGTH = 24;

/** The digest of a keyset with these values. */
export function digestOfValues(values: KeyValues): string {
  return hash('sha256', JSON.stringify(values), 'base64url').slice(0, VALUES_DIGEST_LENGTH);
}

/** Changes when the meaning of a payload does; cursors of another version are malformed. */
const VERSION = 1;
/** Long enough for every text that fits into a request: Node takes 16 kB of headers, the address included. */
export const CURSOR_LENGTH = 12_288;
/**
 * The most bytes of a payload with all values, before base64url: an address has room for `q` beside it, behind proxies too. It is more than the
 * longest row of an index has (2,704 bytes). A cursor of longer values holds the primary key of the row, and a digest of them.
 */
const WHOLE_LENGTH = 3_000;
/** Flags of a payload's third member, which are added up. */
const INCLUSIVE = 1;
const ABRIDGED = 2;
/** Characters of base64url: multiples of four, of which each says six bits that no other spelling says. */
const DIGEST_LENGTH = 12;
const TAG_LENGTH = 24;

/** The list that a cursor belongs to. */
export interface CursorScope {
  readonly plan: ResourcePlan;
  readonly sort: readonly SortTerm[];
  /** Values that separate its rows from others; all null for every row. */
  readonly digest: readonly unknown[];
}

/** Makes and reads cursors. */
export interface CursorCodec {
  encode(keyset: Keyset, scope: CursorScope): string;
  /** @throws InvalidCursorError */
  decode(cursor: string, scope: CursorScope, parameter: 'after' | 'before'): Keyset;
  /** States of entity tags, sealed with the same secrets. */
  readonly states: SealedStates;
}

/** Makes the tags of payloads, and verifies them. */
interface Tagger {
  tag(payload: string): string;
  isAuthentic(payload: string, tag: string): boolean;
}

/** Tags without a secret: the same on every instance of an application, and no protection. */
const checksums: Tagger = {
  tag: (payload) => hash('sha256', payload, 'base64url').slice(0, TAG_LENGTH),
  isAuthentic: (payload, tag) => tag === checksums.tag(payload),
};

/** @param secrets the first signs, all of them verify */
function signatures(secrets: readonly string[]): Tagger {
  // Read once: a text would be read again for each tag.
  const keys = secrets.map((secret) => createSecretKey(secret, 'utf8')) as [KeyObject, ...KeyObject[]];
  const sign = (payload: string, key: KeyObject) =>
    createHmac('sha256', key).update(payload).digest('base64url').slice(0, TAG_LENGTH);
  return {
    tag: (payload) => sign(payload, keys[0]),
    // Every key is tried, so that the time does not show which one fits.
    isAuthentic: (payload, tag) => keys.map((key) => isSame(tag, sign(payload, key))).includes(true),
  };
}

/**
 * A codec.
 *
 * @param secrets the first signs, all of them verify; none means checksums
 */
export function createCursorCodec(secrets: readonly string[]): CursorCodec {
  const tagger = secrets.length > 0 ? signatures(secrets) : checksums;
  const sealed = createSealedTexts(secrets);

  return Object.freeze({
    states: createSealedStates(secrets),

    encode(keyset: Keyset, scope: CursorScope): string {
      const content = shortestContent(keyset, scope);
      const payload = isSealed(scope) ? sealed.seal(content) : Buffer.from(content).toString('base64url');
      return `${payload}.${tagger.tag(payload)}`;
    },

    decode(cursor: string, scope: CursorScope, parameter: 'after' | 'before'): Keyset {
      const malformed = (): never => {
        throw new InvalidCursorError('cursor.malformed', parameter);
      };
      if (cursor.length > CURSOR_LENGTH) malformed();
      const [payload = '', tag = '', ...rest] = cursor.split('.');
      // The tag is that of one spelling: base64url has others of the same bytes.
      if (rest.length > 0 || !tagger.isAuthentic(payload, tag)) return malformed();
      const text = isSealed(scope) ? sealed.open(payload) : Buffer.from(payload, 'base64url').toString();
      const { digest, keyset } = readContent(text ?? '') ?? malformed();
      if (digest !== digestOf(scope) || keyset.values.length !== scope.sort.length) {
        throw new InvalidCursorError('cursor.mismatch', parameter);
      }
      return keyset.digest === undefined || hasKeyOnly(keyset, scope) ? keyset : malformed();
    },
  });
}

/** Compares in a time that does not depend on the letters that are right. */
function isSame(tag: string, expected: string): boolean {
  const bytes = Buffer.from(tag);
  return bytes.length === TAG_LENGTH && timingSafeEqual(bytes, Buffer.from(expected));
}

/** The attributes of a resource that no answer and no path has. */
const unseenNames = perPair(
  ({ info, hidden }: Pick<ResourcePlan, 'info' | 'hidden'>): ReadonlySet<string> => {
    // The primary key is in every cursor, and its JSON form may leave it out.
    const keys = hasJsonForm(info.model) ? info.primaryKey : [];
    const names = new Set([...hidden, ...keys.map(({ name }) => name)]);
    for (const { name } of info.address) names.delete(name);
    return names;
  },
);

/** True where a cursor has a value that no answer has: only the application can read it then. */
function isSealed({ plan, sort }: Pick<CursorScope, 'plan' | 'sort'>): boolean {
  return sort.some((key) => isUnseen(plan, key));
}

function isUnseen(plan: ResourcePlan, { attribute, value }: SortKey): boolean {
  if (value?.kind === 'related') return isUnseen(value.related.target, value.key);
  return unseenNames(plan).has(value?.kind === 'json' ? value.attribute : attribute);
}

/** One line for all lists whose cursors are sealed, where the application has no secret for them. */
export function sealedCursorWarnings(plans: readonly ResourcePlan[], cursorSecret: unknown): string[] {
  const sealed = plans.filter(
    (plan) => plan.pagination === 'cursor' && everyKey(plan).some((key) => isUnseen(plan, key)),
  );
  if (cursorSecret !== undefined || sealed.length === 0) return [];
  return [
    `Cursors of ${sealed.map(({ name }) => name).join(', ')} hide values that no answer has, with a secret of this process alone; set ` +
      'cursorSecret in bootstrap, so that other processes read them, too.',
  ];
}

/** The keys of all orders of a list. */
function everyKey({ defaultSort, sortable, sortKeys }: ResourcePlan): readonly SortKey[] {
  return [...defaultSort, ...sortable.flatMap((name) => sortKeys.get(name) ?? [{ attribute: name }])];
}

function shortestContent(keyset: Keyset, scope: CursorScope): string {
  const whole = contentOf(keyset, scope);
  if (Buffer.byteLength(whole) <= WHOLE_LENGTH) return whole;
  const short = contentOf(abridged(keyset, scope), scope);
  // Where the key is the long part, a digest of it is one thing more.
  return short.length < whole.length ? short : whole;
}

function contentOf({ values, isInclusive, digest }: Keyset, scope: CursorScope): string {
  const flags = (isInclusive ? INCLUSIVE : 0) + (digest === undefined ? 0 : ABRIDGED);
  const content = [VERSION, digestOf(scope), flags, ...(digest === undefined ? [] : [digest]), ...values];
  return JSON.stringify(content);
}

/** Leaves only the primary key of all values, which identifies the row. */
function abridged({ values, isInclusive }: Keyset, { plan, sort }: CursorScope): Keyset {
  const isKey = sort.map((term) => isKeyTerm(plan, term));
  const known = values.map((value, index) => (isKey[index] ? value : null));
  return { values: known, isInclusive, digest: digestOfValues(values) };
}

function hasKeyOnly({ values }: Keyset, { plan, sort }: CursorScope): boolean {
  return sort.every((term, index) => isKeyTerm(plan, term) === (values[index] !== null));
}

function isKeyTerm({ info }: ResourcePlan, term: SortTerm): boolean {
  return info.primaryKey.some(({ name }) => isOfAttribute(term, name));
}

function readContent(text: string): { readonly digest: string; readonly keyset: Keyset } | null {
  const content = parseJson(text);
  if (!Array.isArray(content)) return null;
  const [version, digest, flags, ...values] = content as unknown[];
  const isAbridged = flags === ABRIDGED || flags === ABRIDGED + INCLUSIVE;
  const isInclusive = flags === INCLUSIVE || flags === ABRIDGED + INCLUSIVE;
  const [ofValues] = isAbridged ? values.splice(0, 1) : [];
  const isWhole =
    version === VERSION &&
    typeof digest === 'string' &&
    (flags === 0 || isInclusive || isAbridged) &&
    (!isAbridged || typeof ofValues === 'string') &&
    values.every((value) => value === null || (typeof value === 'string' && !value.includes('\0')));
  if (!isWhole) return null;
  const keyset = { values: Object.freeze(values as (string | null)[]), isInclusive };
  return { digest, keyset: Object.freeze(isAbridged ? { ...keyset, digest: String(ofValues) } : keyset) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Digests of lists of all rows, by the order: there are few of them, and each comes again. Those of tenants are many. */
const digestsOf = perPair((_plan: ResourcePlan) => new BoundedCache<string>());

/** The typed filter, not its text: blanks and spellings do not make another list. */
function digestOf(scope: CursorScope): string {
  const { plan, sort, digest } = scope;
  if (digest.some((each) => each !== null)) return computeDigest(scope);
  return digestsOf(plan).get(orderShape(sort), () => computeDigest(scope));
}

function computeDigest({ plan, sort, digest }: CursorScope): string {
  const scope = [
    plan.name,
    plan.prefix,
    sort.map(({ attribute, descending, nulls, value }) => {
      return [attribute, descending, ...(nulls ? [nulls] : []), ...(value ? [valueShape(value)] : [])];
    }),
    ...digest,
  ];
  // A replacer doubles the time.
  const text = digest.every(namesNoTable) ? JSON.stringify(scope) : JSON.stringify(scope, nameTable);
  return hash('sha256', text, 'base64url').slice(0, DIGEST_LENGTH);
}

function namesNoTable(part: unknown): boolean {
  return !(part instanceof Object) || (part as Partial<Filter>).kind === 'comparison';
}

/** Other tables of a filter are hashed by their names. */
function nameTable(member: string, value: unknown): unknown {
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
  'cursor.gone':
    'The row that this cursor was made from is gone, or has other values by now; they were too long for the cursor to ' +
    'hold them. Start again without a cursor.',
};
