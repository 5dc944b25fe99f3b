/**
 * Parses the id of a path into the value of the attribute that addresses a record. Own parsers: `Number('0x10')` and `Number('')` are numbers.
 */
import type { IdType } from '../declare/crud-options.js';
import type { ColumnKind, ColumnType, NetworkForm } from '../describe/column-type.js';
import type { AttributeInfo, ModelInfo } from '../describe/model-info.js';
import { NETWORK_FORMS } from '../describe/network-value.js';
import { keyText } from '../describe/row-key.js';
import { ofTables } from '../describe/table-facts.js';
import { showValue } from '../util/option-problems.js';

/** Result of parsing a raw path segment. */
export type ParsedId =
  | { readonly kind: 'id'; readonly value: unknown }
  /** Not an id at all: the request is wrong. */
  | { readonly kind: 'malformed'; readonly expected: string }
  /** An id that no row can have, such as one beyond the column's range: there is nothing to find. */
  | { readonly kind: 'impossible' };

/** Form of the ids; `custom` is that of a function, which alone defines it. */
export type IdKind = 'integer' | 'bigint' | 'uuid' | 'string' | 'enum' | 'custom';

/** Reads the id of a path. Throws only what a user's `idType` function throws. */
export type IdParser = (raw: string) => ParsedId;

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const BIGINT_MINIMUM = -(2n ** 63n);
const BIGINT_MAXIMUM = 2n ** 63n - 1n;
/** Digits of the longest int8; longer ones are out of range, and converting millions of digits would cost time. */
const BIGINT_LENGTH = 20;
/** Digits, with a sign or without, that a number holds as they are; a `BigInt` costs several times as much. */
const NUMBER_LENGTH = 15;

const IMPOSSIBLE: ParsedId = Object.freeze({ kind: 'impossible' });
/** An id that an `idType` function refuses, without an expectation: only the function defines one. */
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

/** Reads an integer of a range, as a text that `convert` may change. */
function integerParser(minimum: bigint, maximum: bigint, convert: (raw: string) => unknown): IdParser {
  const [least, most] = [Number(minimum), Number(maximum)];
  const isInRange = (raw: string): boolean => {
    if (raw.length <= NUMBER_LENGTH) return Number(raw) >= least && Number(raw) <= most;
    return raw.length <= BIGINT_LENGTH && BigInt(raw) >= minimum && BigInt(raw) <= maximum;
  };
  return (raw) => {
    if (!INTEGER.test(raw)) return malformed('an integer');
    return isInRange(raw) ? found(convert(raw)) : IMPOSSIBLE;
  };
}

const parseUuid: IdParser = (raw) => (UUID.test(raw) ? found(raw.toLowerCase()) : malformed('a UUID'));

function stringParser(maxLength: number | null): IdParser {
  return (raw) => {
    // PostgreSQL's text holds neither NUL nor half a character.
    if (raw.includes('\0') || !raw.isWellFormed()) return malformed('text without NUL characters');
    return maxLength !== null && [...raw].length > maxLength ? IMPOSSIBLE : found(raw);
  };
}

function networkParser(form: NetworkForm): IdParser {
  const { holds, noun } = NETWORK_FORMS[form];
  return (raw) => (holds(raw) ? found(raw) : malformed(noun));
}

type IdTypeName = 'integer' | 'bigint' | 'uuid' | 'string';

/** The columns in which a value of the type can be found; any other would have the database refuse the comparison. */
const FITTING: Readonly<Record<IdTypeName, readonly ColumnKind[]>> = Object.freeze({
  integer: ['integer', 'bigint', 'decimal', 'float'],
  bigint: ['integer', 'bigint', 'decimal', 'float', 'string'],
  uuid: ['uuid', 'string'],
  string: ['string'],
});

const NAMES = Object.keys(FITTING) as IdTypeName[];

const OWN_TYPES: readonly ColumnKind[] = [
  'range',
  'multirange',
  'network',
  'interval',
  'money',
  'bit',
  'other',
];

/** True where an id of the type can be compared with the column. Of a type of PostgreSQL's own any id may be. */
function fits(name: IdTypeName, { kind }: ColumnType): boolean {
  return OWN_TYPES.includes(kind) || FITTING[name].includes(kind);
}

const CONSTRUCTORS: ReadonlyMap<unknown, IdTypeName> = new Map<unknown, IdTypeName>([
  [Number, 'integer'],
  [BigInt, 'bigint'],
  [String, 'string'],
]);

/** The name of an `idType` that is one, or one of the constructors standing for a name. */
function nameOf(idType: IdType | ColumnKind): IdTypeName | undefined {
  return typeof idType === 'string' ? NAMES.find((name) => name === idType) : CONSTRUCTORS.get(idType);
}

function namedParser(name: IdTypeName, type: ColumnType): IdParser {
  switch (name) {
    case 'integer':
      return type.kind === 'integer'
        ? integerParser(BigInt(type.minimum), BigInt(type.maximum), Number)
        : integerParser(BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER), Number);
    case 'bigint':
      // A string, as the column's values are everywhere else: a JavaScript number would address another row.
      return type.kind === 'integer'
        ? integerParser(BigInt(type.minimum), BigInt(type.maximum), String)
        : integerParser(BIGINT_MINIMUM, BIGINT_MAXIMUM, String);
    case 'uuid':
      return parseUuid;
    case 'string':
      if (type.kind === 'network') return networkParser(type.form);
      return stringParser(type.kind === 'string' ? type.maxLength : null);
  }
}

function derivedParser({ type }: AttributeInfo): { parser: IdParser; kind: IdKind } | undefined {
  if (type.kind === 'enum') {
    return { parser: (raw) => (type.values.includes(raw) ? found(raw) : IMPOSSIBLE), kind: 'enum' };
  }
  const name = nameOf(type.kind === 'network' ? 'string' : type.kind);
  return name && { parser: namedParser(name, type), kind: name };
}

/** `Number('x')` is no id, though a number: Sequelize would write NaN as a bare word, the name of a column. */
function functionParser(parse: (raw: string) => unknown): IdParser {
  return (raw) => {
    const value = parse(raw);
    const isMissing = value === undefined || value === null;
    return isMissing || (typeof value === 'number' && !Number.isFinite(value)) ? REFUSED : found(value);
  };
}

/** The largest numbers of narrow columns, by type. */
const LARGEST: Readonly<Record<string, number>> = Object.freeze({ smallint: 32_767, integer: 2_147_483_647 });

/** True for a value that the column can hold, as far as the catalogue has said; a model may declare a wider type. */
function holderOf({ found: column }: AttributeInfo): (value: unknown) => boolean {
  const largest = column && LARGEST[column.baseType];
  if (largest !== undefined) return (value) => Number(value) <= largest && Number(value) >= -largest - 1;
  const [, length] = /^character.*\((\d+)\)$/.exec(column?.type ?? '') ?? [];
  if (length === undefined) return () => true;
  return (value) => typeof value !== 'string' || [...value].length <= Number(length);
}

function withinColumn(parser: IdParser, address: AttributeInfo): IdParser {
  const holder = ofTables(() => holderOf(address));
  return (raw) => {
    const parsed = parser(raw);
    return parsed.kind === 'id' && !holder()(parsed.value) ? IMPOSSIBLE : parsed;
  };
}

/** The parser of ids, their kind, and the problems that prevent it: then it finds nothing. */
interface CompiledId {
  readonly parser: IdParser;
  readonly kind: IdKind;
  readonly problems: readonly string[];
}

/** Compiles the ids of a model. */
export function compileId(
  { name, address }: Pick<ModelInfo, 'name' | 'address'>,
  idType: IdType | undefined,
): CompiledId {
  const [first, ...others] = address;
  const refuse = (problem: string) =>
    ({ parser: parseNothing, kind: 'custom', problems: [`${name}: ${problem}`] }) as const;
  if (!first)
    return refuse(
      `no attributes tell its rows apart, so that no path can address one; name attributes whose values together are unique and not null with id: [...], ` +
        "or leave out what needs an id: endpoints: ['list', 'create'].",
    );
  if (others.length > 0)
    return refuse(
      `an id of several attributes (${keyText(address)}) cannot address a record yet; leave out what needs an id: endpoints: ['list', 'create'].`,
    );
  return compilePart(name, first, idType);
}

const parseNothing: IdParser = () => IMPOSSIBLE;

/** Compiles the ids that are values of one attribute. */
function compilePart(modelName: string, address: AttributeInfo, idType: IdType | undefined): CompiledId {
  const { type } = address;
  const attribute = `${address.isAddress ? 'attribute' : 'primary key'} '${address.name}'`;
  const refuse = (problem: string) => ({
    parser: parseNothing,
    kind: 'custom' as const,
    problems: [`${modelName}: ${problem}`],
  });
  if (idType === undefined) {
    const derived = derivedParser(address);
    if (derived) return { ...derived, parser: withinColumn(derived.parser, address), problems: [] };
    return refuse(
      `the ${attribute} is of type ${type.kind}, which no path segment can hold; ` +
        'give @Crud an idType function that reads it.',
    );
  }
  const name = nameOf(idType);
  if (name) {
    if (fits(name, type)) {
      const parser = withinColumn(namedParser(name, type), address);
      return { parser, kind: name, problems: [] };
    }
    return refuse(
      `idType '${name}' does not fit the ${attribute}, which is of type ${type.kind}; ${adviceFor(type)}.`,
    );
  }
  if (typeof idType === 'function') return { parser: functionParser(idType), kind: 'custom', problems: [] };
  return refuse(
    `idType ${showValue(idType)} is unknown; use 'integer', 'bigint', 'uuid', 'string' or a function.`,
  );
}

function adviceFor(type: ColumnType): string {
  const names = NAMES.filter((name) => fits(name, type));
  return names.length === 0
    ? 'use a function'
    : `leave it out, or use ${names.map((name) => `'${name}'`).join(', ')} or a function`;
}
