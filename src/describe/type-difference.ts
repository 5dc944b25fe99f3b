/**
 * Where the type of an attribute is another one than that of its column: bodies are checked by the one, and rows hold the other. Digits are
 * those of both: PostgreSQL rounds a value with more of them, and refuses none.
 */

import type { ModelClass } from '../declare/crud-options.js';
import { type ColumnType, innermostType } from './column-type.js';
import type { AttributeInfo } from './model-info.js';
import { instanceOptions } from './sequelize-internals.js';
import { type ColumnFacts, ofTables } from './table-facts.js';

const MAX_INTEGER = 2_147_483_647;

/** A type of columns: Sequelize's name of it, and the kinds of attributes whose values it holds. */
interface BaseType {
  /** Undefined where Sequelize has none. */
  readonly declared?: string;
  readonly holds: readonly ColumnType['kind'][];
}

const TEXT = ['string', 'enum'] as const;
const WHOLE = ['integer', 'bigint'] as const;

/** By the names that PostgreSQL has for them. A shorter text is the database's to refuse, and bodies have the digits of the column. */
const BASES: ReadonlyMap<string, BaseType> = new Map<string, BaseType>([
  ['text', { declared: 'TEXT', holds: TEXT }],
  ['character varying', { declared: 'STRING', holds: TEXT }],
  ['character', { declared: 'CHAR', holds: TEXT }],
  ['citext', { declared: 'CITEXT', holds: TEXT }],
  ['name', { holds: TEXT }],
  ['"char"', { holds: TEXT }],
  ['smallint', { declared: 'SMALLINT', holds: WHOLE }],
  ['integer', { declared: 'INTEGER', holds: WHOLE }],
  ['bigint', { declared: 'BIGINT', holds: ['bigint'] }],
  ['numeric', { declared: 'DECIMAL', holds: ['decimal'] }],
  ['real', { declared: 'REAL', holds: ['float'] }],
  ['double precision', { declared: 'DOUBLE', holds: ['float'] }],
  ['boolean', { declared: 'BOOLEAN', holds: ['boolean'] }],
  ['timestamp with time zone', { declared: 'DATE', holds: ['date'] }],
  // It has local texts.
  ['timestamp without time zone', { holds: ['date'] }],
  ['date', { declared: 'DATEONLY', holds: ['dateonly'] }],
  ['time without time zone', { declared: 'TIME', holds: ['time'] }],
  ['uuid', { declared: 'UUID', holds: ['uuid'] }],
  ['json', { declared: 'JSON', holds: ['json'] }],
  ['jsonb', { declared: 'JSONB', holds: ['json'] }],
  ['bytea', { declared: 'BLOB', holds: ['blob'] }],
  ['hstore', { declared: 'HSTORE', holds: [] }],
]);

/** True for a type of texts. */
export function isTextBase(base: string): boolean {
  return BASES.get(base)?.holds === TEXT;
}

/** True for the type of an extension, whose schema may come before. */
export function isCitext(base: string): boolean {
  return /(?:^|\.)citext$/.test(base);
}

/** A column of another type than its attribute. */
export interface TypeDifference {
  /** The type of the column, and its effect, as the end of a sentence. */
  readonly text: string;
  /** True where values of the column are read and written as those of the attribute's own type all the same. */
  readonly isAlike: boolean;
}

/** Difference between the types of an attribute and its column; null where they agree, or the column was not read. */
export function typeDifference({
  type,
  found,
  role = 'data',
}: Pick<AttributeInfo, 'type' | 'found'> & Partial<Pick<AttributeInfo, 'role'>>): TypeDifference | null {
  if (!found) return null;
  return (
    differenceOf(type, found, found.baseType) ?? (role === 'timestamp' ? null : roundedMoments(type, found))
  );
}

/** Digits of the second that bodies have, and JavaScript itself. */
const MILLISECONDS = 3;

/** A column that rounds the moments of bodies. Each client that writes a `Date` sends milliseconds, so that they are not refused. */
function roundedMoments(type: ColumnType, found: ColumnFacts): TypeDifference | null {
  const inner = innermostType(type);
  const digits = secondDigits(found);
  if (inner.kind !== 'date' || digits === undefined || digits >= MILLISECONDS) return null;
  if (inner.digits !== undefined && inner.digits <= digits) return null;
  const declared = type.kind === 'array' ? `ARRAY(DataType.DATE(${digits}))` : `DATE(${digits})`;
  const text = `the column is ${found.type}: PostgreSQL rounds the milliseconds of bodies; declare it as DataType.${declared}.`;
  return { text, isAlike: true };
}

/** Types that no column is another one than. */
const FREE: readonly ColumnType['kind'][] = ['virtual', 'other', 'named', 'hstore'];

function differenceOf(
  type: ColumnType,
  { labels, type: shown }: Pick<ColumnFacts, 'labels' | 'type'>,
  base: string,
): TypeDifference | null {
  const { kind } = type;
  if (kind === 'array' && base.endsWith('[]')) {
    const element = differenceOf(innermostType(type), { labels, type: shown }, base.slice(0, -2));
    return (
      element && {
        ...element,
        text: element.text.replace(/DataType\.(.+)\.$/, 'DataType.ARRAY(DataType.$1).'),
      }
    );
  }
  const own = ownBases(type);
  if (own) return own.includes(base) ? null : otherType(shown);
  // A text may declare a type that only PostgreSQL has.
  if (FREE.includes(kind) || (kind === 'string' && !isKnown(base, labels))) return null;
  if (kind === 'integer' && base === 'oid' && type.maximum > MAX_INTEGER) return null;
  if (kind === 'enum' && labels) return labelDifference(type.values, labels, shown);
  const known = BASES.get(base);
  if (known?.holds.includes(kind)) return null;
  const declared = labels ? `ENUM(${quoted(labels)})` : known?.declared;
  const mend = declared ? `; declare it as DataType.${declared}` : '';
  if (kind === 'integer' && base === 'bigint') {
    const text = `the column is ${shown}: larger numbers are refused in bodies, and those beyond 2^53 are rounded by clients${mend}.`;
    return { text, isAlike: true };
  }
  return otherType(shown, mend);
}

function otherType(shown: string, mend = ''): TypeDifference {
  const text =
    `the column is ${shown}: bodies and filters are checked as what the model says, and PostgreSQL stores and compares the other, so that ` +
    `requests may fail, and answers have values of another type${mend}.`;
  return { text, isAlike: false };
}

/** The types of columns that hold the values of a type which only PostgreSQL has; undefined for all others. */
function ownBases(type: ColumnType): readonly string[] | undefined {
  switch (type.kind) {
    case 'range':
    case 'multirange':
      return (SUBTYPES[type.bound.kind] ?? []).map((each) => `${each}${type.kind}`);
    case 'network':
      return [type.form];
    case 'interval':
    case 'money':
      return [type.kind];
    case 'bit':
      return [type.isVarying ? 'bit varying' : 'bit'];
    default:
      return undefined;
  }
}

/** The beginnings of the names of ranges, by their bounds. */
const SUBTYPES: Readonly<Partial<Record<ColumnType['kind'], readonly string[]>>> = {
  integer: ['int4'],
  bigint: ['int8', 'int4'],
  decimal: ['num'],
  date: ['tstz', 'ts'],
  dateonly: ['date'],
};

function isKnown(base: string, labels: readonly string[] | null): boolean {
  const isDeclared = BASES.get(base)?.declared !== undefined;
  return labels !== null || isDeclared || base.endsWith('[]') || base.startsWith('timestamp');
}

function labelDifference(
  values: readonly string[],
  labels: readonly string[],
  shown: string,
): TypeDifference | null {
  const lacking = values.filter((value) => !labels.includes(value));
  const unknown = labels.filter((label) => !values.includes(label));
  if (lacking.length + unknown.length === 0) return null;
  const parts = [
    ...(lacking.length > 0 ? [`PostgreSQL refuses ${quoted(lacking)}, which it lacks`] : []),
    ...(unknown.length > 0
      ? [`rows may have ${quoted(unknown)}, which bodies and filters refuse, as the model lacks it`]
      : []),
  ];
  return { text: `the column is ${shown} with other labels: ${parts.join('; ')}.`, isAlike: true };
}

function quoted(labels: readonly string[]): string {
  return labels.map((label) => `'${label}'`).join(', ');
}

/** The type with what only the catalogue says of it, which is read when plans are there already. */
export function typeOfColumn(
  type: ColumnType,
  model: ModelClass,
  found: () => ColumnFacts | undefined,
): ColumnType {
  switch (type.kind) {
    case 'array':
      return Object.freeze({ ...type, element: typeOfColumn(type.element, model, found) });
    case 'range':
    case 'multirange':
      return Object.freeze({ ...type, bound: typeOfColumn(type.bound, model, found) });
    case 'money':
      return withFacts(type, { sample: () => found()?.moneySample ?? undefined });
    case 'decimal': {
      const digits = ofTables(() => commonDigits(type, found()));
      return withFacts(type, { precision: () => digits().precision, scale: () => digits().scale });
    }
    case 'time':
      return withFacts(type, { digits: ofTables(() => secondDigits(found())) });
    case 'date':
      return withFacts(type, {
        zone: ofTables(() => {
          const isLocal = /^(?:timestamp without time zone|ts(?:multi)?range)/.test(found()?.baseType ?? '');
          return isLocal ? (instanceOptions(model.sequelize as object).timezone ?? '+00:00') : undefined;
        }),
      });
    default:
      return Object.freeze(type);
  }
}

function withFacts<T extends ColumnType>(type: T, facts: Readonly<Record<string, () => unknown>>): T {
  const getters = Object.entries(facts).map(([name, get]) => [name, { get }] as const);
  return Object.freeze(Object.defineProperties({ ...type }, Object.fromEntries(getters)));
}

type Stored = Pick<ColumnFacts, 'storedType'> | undefined;
type Digits = Pick<ColumnType & { readonly kind: 'decimal' }, 'precision' | 'scale'>;

/** The digits of a DECIMAL that both an attribute and its column hold. */
function commonDigits({ precision, scale }: Digits, found: Stored): Digits {
  const [, digits, places] = /^numeric\((\d+),(-?\d+)\)/.exec(found?.storedType ?? '') ?? [];
  if (digits === undefined) return { precision, scale };
  const stored = { precision: Number(digits), scale: Number(places) };
  if (precision === null) return stored;
  const fraction = Math.min(scale ?? 0, stored.scale);
  const whole = Math.min(precision - (scale ?? 0), stored.precision - stored.scale);
  return { precision: whole + fraction, scale: fraction };
}

/** The digits of a second that a column of times holds; undefined where it holds all six. */
function secondDigits(found: Stored): number | undefined {
  const [, digits] = /^time(?:stamp)?\((\d)\)/.exec(found?.storedType ?? '') ?? [];
  return digits === undefined || digits === '6' ? undefined : Number(digits);
}
