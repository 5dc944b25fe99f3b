/** How the id of a path becomes the value of a primary key. Own parsers: `Number('0x10')` and `Number('')` are numbers. */
import type { IdType } from '../metadata/crud-options.js';
import type { AttributeInfo } from '../model/model-info.js';
import { showValue } from './show-value.js';

/** What a raw path segment turned out to be. */
export type ParsedId =
  | { readonly kind: 'id'; readonly value: unknown }
  /** Not an id at all: the request is wrong. */
  | { readonly kind: 'malformed'; readonly expected: string }
  /** An id that no row can have, such as one beyond the column's range: there is nothing to find. */
  | { readonly kind: 'impossible' };

/** What ids look like, for those who describe them; of a function's only it knows. */
export type IdKind = 'integer' | 'bigint' | 'uuid' | 'string' | 'enum' | 'custom';

/** Reads the id of a path. Throws only what a user's `idType` function throws. */
export type IdParser = (raw: string) => ParsedId;

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const BIGINT_MINIMUM = -(2n ** 63n);
const BIGINT_MAXIMUM = 2n ** 63n - 1n;
/** Digits of the longest int8; longer ones are out of range, and converting millions of digits would cost time. */
const BIGINT_LENGTH = 20;

const IMPOSSIBLE: ParsedId = Object.freeze({ kind: 'impossible' });
/** What an `idType` function refuses; what it expects, only it knows. */
export const REFUSED: ParsedId = Object.freeze({
  kind: 'malformed',
  expected: 'one that this resource accepts',
});

function found(value: unknown): ParsedId {
  return { kind: 'id', value };
}

function malformed(expected: string): ParsedId {
  return { kind: 'malformed', expected };
}

function integerParser(minimum: number, maximum: number): IdParser {
  return (raw) => {
    if (!INTEGER.test(raw)) return malformed('an integer');
    const value = Number(raw);
    return value >= minimum && value <= maximum ? found(value) : IMPOSSIBLE;
  };
}

const parseBigint: IdParser = (raw) => {
  if (!INTEGER.test(raw)) return malformed('an integer');
  if (raw.length > BIGINT_LENGTH) return IMPOSSIBLE;
  const value = BigInt(raw);
  // A string, as the column's values are everywhere else: a JavaScript number would address another row.
  return value >= BIGINT_MINIMUM && value <= BIGINT_MAXIMUM ? found(raw) : IMPOSSIBLE;
};

const parseUuid: IdParser = (raw) => (UUID.test(raw) ? found(raw.toLowerCase()) : malformed('a UUID'));

function stringParser(maxLength: number | null): IdParser {
  return (raw) => {
    // PostgreSQL's text holds neither NUL nor half a character.
    if (raw.includes('\0') || !raw.isWellFormed()) return malformed('text without NUL characters');
    return maxLength !== null && [...raw].length > maxLength ? IMPOSSIBLE : found(raw);
  };
}

function enumParser(values: readonly string[]): IdParser {
  return (raw) => (values.includes(raw) ? found(raw) : IMPOSSIBLE);
}

/** The kind of an `idType` that is a name or one of the constructors standing for a name. */
function namedKind(idType: IdType): IdKind | undefined {
  switch (idType) {
    case 'integer':
    case Number:
      return 'integer';
    case 'bigint':
    case BigInt:
      return 'bigint';
    case 'uuid':
      return 'uuid';
    case 'string':
    case String:
      return 'string';
    default:
      return undefined;
  }
}

function derivedKind({ type }: AttributeInfo): IdKind | undefined {
  switch (type.kind) {
    case 'integer':
    case 'bigint':
    case 'uuid':
    case 'string':
    case 'enum':
      return type.kind;
    default:
      return undefined;
  }
}

/** The parser of a kind, within the bounds of the column where it is of that kind. */
function parserOf(kind: Exclude<IdKind, 'custom'>, { type }: AttributeInfo): IdParser {
  switch (kind) {
    case 'integer':
      return type.kind === 'integer'
        ? integerParser(type.minimum, type.maximum)
        : integerParser(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    case 'bigint':
      return parseBigint;
    case 'uuid':
      return parseUuid;
    case 'string':
      return stringParser(type.kind === 'string' ? type.maxLength : null);
    case 'enum':
      return enumParser(type.kind === 'enum' ? type.values : []);
  }
}

/** `Number('x')` is no id, though a number: Sequelize would write NaN as a bare word, the name of a column. */
function functionParser(parse: (raw: string) => unknown): IdParser {
  return (raw) => {
    const value = parse(raw);
    const isMissing = value === undefined || value === null;
    return isMissing || (typeof value === 'number' && !Number.isFinite(value)) ? REFUSED : found(value);
  };
}

/** The parser of a model's ids and their kind, or the problem that stands in its way. */
export function compileId(
  modelName: string,
  primaryKey: AttributeInfo,
  idType: IdType | undefined,
): { readonly parser: IdParser | null; readonly kind: IdKind | null; readonly problems: readonly string[] } {
  const kind = idType === undefined ? derivedKind(primaryKey) : namedKind(idType);
  if (kind && kind !== 'custom') return { parser: parserOf(kind, primaryKey), kind, problems: [] };
  if (typeof idType === 'function') {
    return { parser: functionParser(idType), kind: 'custom', problems: [] };
  }
  const problem =
    idType === undefined
      ? `${modelName}: the primary key '${primaryKey.name}' is of type ${primaryKey.type.kind}, which no path ` +
        'segment can hold; give @Crud an idType function that reads it.'
      : `${modelName}: idType ${showValue(idType)} is unknown; use 'integer', 'bigint', 'uuid', 'string' or a function.`;
  return { parser: null, kind: null, problems: [problem] };
}
