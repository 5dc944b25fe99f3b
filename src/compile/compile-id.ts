/**
 * Parses the id of a path into the value of the attribute that addresses a record. Own parsers: `Number('0x10')` and `Number('')` are numbers.
 */
import type { IdType, IdTypes } from '../declare/crud-options.js';
import { type ColumnKind, type ColumnType, fitsLength, NARROW_NUMBERS } from '../describe/column-type.js';
import { splitParts } from '../describe/id-text.js';
import type { AttributeInfo, ModelInfo } from '../describe/model-info.js';
import { NETWORK_FORMS } from '../describe/network-value.js';
import { keyNames } from '../describe/row-key.js';
import { ofTables } from '../describe/table-facts.js';
import { didYouMean, showValue } from '../util/option-problems.js';

/** Result of parsing a raw path segment. */
export type ParsedId =
  | { readonly kind: 'id'; readonly value: unknown }
  /** No id of the resource: the request is wrong. */
  | { readonly kind: 'malformed'; readonly expected: string }
  /** An id that no row can have, such as one beyond the column's range: there is nothing to find. */
  | { readonly kind: 'impossible' };

/** Form of the ids; `custom` is that of a function, which alone defines it. */
export type IdKind = 'integer' | 'bigint' | 'uuid' | 'string' | 'enum' | 'value' | 'custom' | 'several';

/** Parses a text into a value of a column whose values are no ids by themselves, such as a moment; undefined for any other text. */
export type TextReader = (type: ColumnType, text: string) => unknown;

interface PartForm {
  readonly kind: IdKind;
  /** A value, as the end of a sentence. The catalogue may change it. */
  expected(): string;
  readonly parseId: IdParser;
}

/** A part of an id, with its own parser. An id of one attribute has one. */
export interface IdPart extends PartForm {
  readonly attribute: AttributeInfo;
}

/** Reads the id of a path. Throws only the errors of a user's `idType` function. */
export type IdParser = (raw: string) => ParsedId;

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
/** A UUID, in any case of its letters. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
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

/** The integers of each type where the column has no range of its own. */
const RANGES = Object.freeze({
  integer: [BigInt(Number.MIN_SAFE_INTEGER), BigInt(Number.MAX_SAFE_INTEGER)],
  bigint: [-(2n ** 63n), 2n ** 63n - 1n],
} as const);

/** Parses integers. An id of type `bigint` is a string, as elsewhere: a JavaScript number would address another row. */
function integerParser(name: 'integer' | 'bigint', type: ColumnType): IdParser {
  const [minimum, maximum] =
    type.kind === 'integer' ? [BigInt(type.minimum), BigInt(type.maximum)] : RANGES[name];
  const [least, most] = [Number(minimum), Number(maximum)];
  const convert = name === 'bigint' ? String : Number;
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
    return maxLength === null || fitsLength(raw, maxLength) ? found(raw) : IMPOSSIBLE;
  };
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

function namedForm(name: IdTypeName, type: ColumnType): PartForm {
  switch (name) {
    case 'integer':
    case 'bigint':
      return { kind: name, expected: () => 'an integer', parseId: integerParser(name, type) };
    case 'uuid':
      return { kind: name, expected: () => 'a UUID', parseId: parseUuid };
    case 'string': {
      const maxLength = type.kind === 'string' ? type.maxLength : null;
      const network = type.kind === 'network' ? NETWORK_FORMS[type.form] : null;
      const parseId: IdParser = network
        ? (raw) => (network.holds(raw) ? found(raw) : malformed(network.noun))
        : stringParser(maxLength);
      return { kind: name, expected: () => 'a text', parseId };
    }
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

function derivedForm({ type }: AttributeInfo, readText: TextReader): PartForm | undefined {
  const noun = VALUES[type.kind];
  if (noun !== undefined) {
    const expected = () =>
      type.kind === 'date' && type.zone !== undefined
        ? 'a date and time without an offset, such as 2026-01-31T08:00:00'
        : noun;
    const parseId: IdParser = (raw) => {
      const value = readText(type, raw);
      return value === undefined ? malformed(expected()) : found(value);
    };
    return { kind: 'value', expected, parseId };
  }
  if (type.kind === 'enum') {
    const { values } = type;
    const parseId: IdParser = (raw) => (values.includes(raw) ? found(raw) : IMPOSSIBLE);
    return { kind: 'enum', expected: () => `one of ${values.join(' | ')}`, parseId };
  }
  const name = nameOf(type.kind === 'network' ? 'string' : type.kind);
  return name && namedForm(name, type);
}

/** `Number('x')` is no id, though a number: Sequelize would write NaN as a bare word, the name of a column. */
function functionParser(parse: (raw: string) => unknown): IdParser {
  return (raw) => {
    const value = parse(raw);
    const isMissing = value === undefined || value === null;
    return isMissing || (typeof value === 'number' && !Number.isFinite(value)) ? REFUSED : found(value);
  };
}

/** True for a value that the column can hold, as far as the catalogue has said; a model may declare a wider type. */
function holderOf({ found: column }: AttributeInfo): (value: unknown) => boolean {
  const narrow = NARROW_NUMBERS.get(column?.baseType);
  if (narrow?.kind === 'integer')
    return (value) => Number(value) >= narrow.minimum && Number(value) <= narrow.maximum;
  const [, length] = /^character.*\((\d+)\)$/.exec(column?.type ?? '') ?? [];
  if (length === undefined) return () => true;
  return (value) => typeof value !== 'string' || fitsLength(value, Number(length));
}

function withinColumn(form: PartForm, address: AttributeInfo): PartForm {
  const holder = ofTables(() => holderOf(address));
  const parseId: IdParser = (raw) => {
    const parsed = form.parseId(raw);
    return parsed.kind === 'id' && !holder()(parsed.value) ? IMPOSSIBLE : parsed;
  };
  return { ...form, parseId };
}

/** The parser of ids, their kind, and the problems that prevent it: then it finds nothing. */
interface CompiledId {
  readonly parser: IdParser;
  readonly kind: IdKind;
  readonly parts: readonly IdPart[];
  readonly problems: readonly string[];
}

const parseNothing: IdParser = () => IMPOSSIBLE;

/** Compiles the ids of a model. */
export function compileId(
  { name, address }: Pick<ModelInfo, 'name' | 'address'>,
  idType: IdType | IdTypes | undefined,
  readText: TextReader,
): CompiledId {
  const [first, ...others] = address;
  const refused = (problem: string): CompiledId => {
    return { parser: parseNothing, kind: 'custom', parts: [], problems: [`${name}: ${problem}`] };
  };
  if (!first)
    return refused(
      'no attributes tell its rows apart, so that no path can address one; name attributes whose values together are unique and not null with id: [...], ' +
        "or leave out what needs an id: endpoints: ['list', 'create'].",
    );
  const names = keyNames(address);
  if (others.length > 0 && idType !== undefined && (typeof idType !== 'object' || idType === null))
    return refused(
      `idType is ${typeof idType === 'function' ? 'a function' : showValue(idType)}, and an id has several attributes; write an object of them, such as ` +
        `{ ${names.map((each) => `${each}: …`).join(', ')} }, or leave it out.`,
    );
  const types = others.length > 0 ? (idType ?? {}) : { [first.name]: idType };
  const strange = Object.keys(types).filter((each) => !names.includes(each));
  const problems = strange.map(
    (each) =>
      `${name}: idType names '${each}', which is no attribute of the id.${didYouMean(each, names)} They are ${names.join(', ')}.`,
  );
  const parts = address.map((attribute): IdPart => {
    const form = partForm(attribute, (types as IdTypes)[attribute.name], readText);
    if (typeof form !== 'string') return { attribute, ...form };
    problems.push(`${name}: ${form}`);
    return { attribute, kind: 'custom', expected: () => REFUSED.expected, parseId: parseNothing };
  });
  const [{ kind, parseId }] = parts as [IdPart];
  if (parts.length === 1) return { parser: parseId, kind, parts, problems };
  const isCustom = parts.some((part) => part.kind === 'custom');
  return { parser: partsParser(parts), kind: isCustom ? 'custom' : 'several', parts, problems };
}

/** Reads a tuple. Of one that is none the whole is expected, so that a client sees the order of the parts. */
function partsParser(parts: readonly IdPart[]): IdParser {
  const names = parts.map(({ attribute }) => attribute.name).join(',');
  const refuse = () => malformed(`${names}: ${parts.map((part) => part.expected()).join(', ')}`);
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

/** The ids that are values of one attribute, or the problem that prevents them. */
function partForm(
  address: AttributeInfo,
  idType: IdType | IdTypes | undefined,
  readText: TextReader,
): PartForm | string {
  const { type } = address;
  const attribute = `${address.isAddress || address.isPart ? 'attribute' : 'primary key'} '${address.name}'`;
  if (idType === undefined) {
    const derived = derivedForm(address, readText);
    if (derived) return withinColumn(derived, address);
    return (
      `the ${attribute} is of type ${type.kind}, which no path segment can hold; ` +
      'give @Crud an idType function that reads it.'
    );
  }
  const name = nameOf(idType);
  if (name && fits(name, type)) return withinColumn(namedForm(name, type), address);
  if (name)
    return `idType '${name}' does not fit the ${attribute}, which is of type ${type.kind}; ${adviceFor(type)}.`;
  if (typeof idType === 'function')
    return { kind: 'custom', expected: () => REFUSED.expected, parseId: functionParser(idType) };
  return `idType ${showValue(idType)} is unknown; use 'integer', 'bigint', 'uuid', 'string' or a function.`;
}

function adviceFor(type: ColumnType): string {
  const names = NAMES.filter((name) => fits(name, type));
  return names.length === 0
    ? 'use a function'
    : `leave it out, or use ${names.map((name) => `'${name}'`).join(', ')} or a function`;
}
