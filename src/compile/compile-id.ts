/**
 * Parses the id of a path into the value of the attribute that addresses a record. Own parsers: `Number('0x10')` and `Number('')` are numbers.
 */
import type { IdType, IdTypes } from '../declare/crud-options.js';
import type { ColumnKind, ColumnType, NetworkForm } from '../describe/column-type.js';
import { splitParts } from '../describe/id-text.js';
import type { AttributeInfo, ModelInfo } from '../describe/model-info.js';
import { NETWORK_FORMS } from '../describe/network-value.js';
import { keyNames } from '../describe/row-key.js';
import { ofTables } from '../describe/table-facts.js';
import { didYouMean, showValue } from '../util/option-problems.js';

/** Result of parsing a raw path segment. */
export type ParsedId =
  | { readonly kind: 'id'; readonly value: unknown }
  /** Not an id at all: the request is wrong. */
  | { readonly kind: 'malformed'; readonly expected: string }
  /** An id that no row can have, such as one beyond the column's range: there is nothing to find. */
  | { readonly kind: 'impossible' };

/** Form of the ids; `custom` is that of a function, which alone defines it. */
export type IdKind = 'integer' | 'bigint' | 'uuid' | 'string' | 'enum' | 'value' | 'custom' | 'several';

/** Parses a text into a value of a column whose values are no ids by themselves, such as a moment; undefined for any other text. */
export type TextReader = (type: ColumnType, text: string) => unknown;

/** A part of an id, with its own parser. An id of one attribute has one. */
export interface IdPart {
  readonly attribute: AttributeInfo;
  readonly kind: IdKind;
  readonly parseId: IdParser;
}

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
export const REFUSED = Object.freeze({
  kind: 'malformed',
  expected: 'one that this resource accepts',
} satisfies ParsedId);

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
function nameOf(idType: IdType | IdTypes | ColumnKind): IdTypeName | undefined {
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

/** Texts of values that ids are written as, as the end of a sentence. */
const VALUES: Readonly<Partial<Record<ColumnKind, string>>> = Object.freeze({
  boolean: 'true or false',
  decimal: 'a decimal number',
  dateonly: 'a date such as 2026-01-31',
  time: 'a time of day such as 08:00:00',
  date: 'a date and time with an offset, such as 2026-01-31T08:00:00Z',
});

function expectedOf({ attribute: { type }, kind }: IdPart): string {
  switch (kind) {
    case 'integer':
    case 'bigint':
      return 'an integer';
    case 'uuid':
      return 'a UUID';
    case 'string':
      return 'a text';
    case 'enum':
      return type.kind === 'enum' ? `one of ${type.values.join(' | ')}` : 'a text';
    case 'value':
      return expectedValue(type);
    default:
      return REFUSED.expected;
  }
}

function expectedValue(type: ColumnType): string {
  return type.kind === 'date' && type.zone !== undefined
    ? 'a date and time without an offset, such as 2026-01-31T08:00:00'
    : (VALUES[type.kind] as string);
}

function derivedParser(
  { type }: AttributeInfo,
  readText: TextReader,
): { parser: IdParser; kind: IdKind } | undefined {
  if (type.kind in VALUES) {
    const parser: IdParser = (raw) => {
      const value = readText(type, raw);
      return value === undefined ? malformed(expectedValue(type)) : found(value);
    };
    return { parser, kind: 'value' };
  }
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
  readonly parts: readonly IdPart[];
  readonly problems: readonly string[];
}

/** Compiles the ids of a model. */
export function compileId(
  { name, address }: Pick<ModelInfo, 'name' | 'address'>,
  idType: IdType | IdTypes | undefined,
  readText: TextReader,
): CompiledId {
  const [first, ...others] = address;
  if (!first)
    return refused(
      `${name}: no attributes tell its rows apart, so that no path can address one; name attributes whose values together are unique and not null with id: [...], ` +
        "or leave out what needs an id: endpoints: ['list', 'create'].",
    );
  if (others.length > 0) return compileSeveral({ name, address }, idType, readText);
  const one = compilePart(name, first, idType, readText);
  return { ...one, parts: [{ attribute: first, kind: one.kind, parseId: one.parser }] };
}

function compileSeveral(
  { name, address }: Pick<ModelInfo, 'name' | 'address'>,
  idType: IdType | IdTypes | undefined,
  readText: TextReader,
): CompiledId {
  const names = keyNames(address);
  if (idType !== undefined && (typeof idType !== 'object' || idType === null))
    return refused(
      `${name}: idType is ${typeof idType === 'function' ? 'a function' : showValue(idType)}, and an id has several attributes; write an object of them, such as ` +
        `{ ${names.map((each) => `${each}: …`).join(', ')} }, or leave it out.`,
    );
  const types: IdTypes = idType ?? {};
  const strange = Object.keys(types).filter((each) => !names.includes(each));
  const compiled = address.map((attribute) => compilePart(name, attribute, types[attribute.name], readText));
  const problems = [
    ...strange.map(
      (each) =>
        `${name}: idType names '${each}', which is no attribute of the id.${didYouMean(each, names)} They are ${names.join(', ')}.`,
    ),
    ...compiled.flatMap((one) => one.problems),
  ];
  const parts = address.map((attribute, index) => {
    const { parser: parseId, kind } = compiled[index] as Omit<CompiledId, 'parts'>;
    return { attribute, kind, parseId };
  });
  const kind = parts.some((part) => part.kind === 'custom') ? 'custom' : 'several';
  return { parser: partsParser(parts), kind, parts, problems };
}

/** Reads a tuple. Of one that is none the whole is expected, so that a client sees the order of the parts. */
function partsParser(parts: readonly IdPart[]): IdParser {
  const names = parts.map(({ attribute }) => attribute.name).join(',');
  const refuse = () => malformed(`${names}: ${parts.map(expectedOf).join(', ')}`);
  return (raw) => {
    const texts = splitParts(raw);
    if (texts?.length !== parts.length) return refuse();
    const values: Record<string, unknown> = {};
    let isPossible = true;
    for (const [index, { attribute, parseId }] of parts.entries()) {
      const parsed = parseId(texts[index] as string);
      if (parsed.kind === 'malformed') return refuse();
      if (parsed.kind === 'id') values[attribute.name] = parsed.value;
      else isPossible = false;
    }
    return isPossible ? found(Object.freeze(values)) : IMPOSSIBLE;
  };
}

function refused(problem: string): CompiledId {
  return { parser: parseNothing, kind: 'custom', parts: [], problems: [problem] };
}

const parseNothing: IdParser = () => IMPOSSIBLE;

/** Compiles the ids that are values of one attribute. */
function compilePart(
  modelName: string,
  address: AttributeInfo,
  idType: IdType | IdTypes | undefined,
  readText: TextReader,
): Omit<CompiledId, 'parts'> {
  const { type } = address;
  const attribute = `${address.isAddress || address.isPart ? 'attribute' : 'primary key'} '${address.name}'`;
  const refuse = (problem: string) => ({
    parser: parseNothing,
    kind: 'custom' as const,
    problems: [`${modelName}: ${problem}`],
  });
  if (idType === undefined) {
    const derived = derivedParser(address, readText);
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
