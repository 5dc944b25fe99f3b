/** The file of names: those that people choose for classes, attributes and relations, in the place of planned ones. */
import { throwProblems } from '../util/config-error.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import type { DatabaseSchema, DatabaseTable } from './model-plan.js';
import { isTakenClass } from './names.js';

/** Names of relations, by the foreign key that they follow. */
export interface RelationNames {
  /** From the table with the foreign key. */
  readonly one?: string;
  /** Back to it. */
  readonly many?: string;
  /** From the table that it refers to, through a table of pairs, to the other side. */
  readonly through?: string;
}

/** Names of a table. */
export interface TableNames {
  readonly class?: string;
  /** Columns that address a row of a view or of a foreign table, which has no index that says so. */
  readonly id?: readonly string[];
  /** Attributes by the names of columns. */
  readonly columns?: Readonly<Record<string, string>>;
  /** Relations by the names of foreign keys. */
  readonly relations?: Readonly<Record<string, RelationNames>>;
}

/** Names by `schema.table`. */
export type NameChoices = Readonly<Record<string, TableNames>>;

const IDENTIFIER = /^[A-Za-z_]\w{0,62}$/;
const CLASS = /^[A-Z]\w{0,62}$/;

/** The name of a table in the file. */
export function keyOf({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return `${schema}.${name}`;
}

/**
 * Checks that all names are those of the database.
 *
 * @throws ConfigError with all that are not
 */
export function checkNames(choices: unknown, { tables, otherTables = [] }: DatabaseSchema): NameChoices {
  const byKey = new Map(tables.map((table) => [keyOf(table), table]));
  if (!isObject(choices)) {
    throwProblems([
      `The file of names has ${showValue(choices)}; use an object such as { "shop.order_lines": { "class": "OrderLine" } }.`,
    ]);
    return {};
  }
  throwProblems(
    Object.entries(choices).flatMap(([key, names]) => {
      const table = byKey.get(key);
      if (!table && otherTables.includes(key)) return [];
      if (!table)
        return [
          `The file of names has the table '${key}', which is not there.${didYouMean(key, [...byKey.keys()])}`,
        ];
      return tableProblems(key, names, table);
    }),
  );
  return choices as NameChoices;
}

function tableProblems(key: string, names: unknown, table: DatabaseTable): string[] {
  const { columns, foreignKeys } = table;
  const at = `The file of names, ${key}:`;
  if (!isObject(names))
    return [`${at} ${showValue(names)} is no object; use { "class": "…", "columns": {…} }.`];
  const { class: className, columns: attributes = {}, relations = {} } = names;
  const ofClass =
    className === undefined || (isMatch(className, CLASS) && !isTakenClass(className))
      ? []
      : [
          `${at} class is ${showValue(className)}; use a name such as 'OrderLine', which no import and no type of JavaScript has.`,
        ];
  return [
    ...unknownMembers(at, names, ['class', 'id', 'columns', 'relations']),
    ...ofClass,
    ...idProblems(at, names['id'], table),
    ...entryProblems(
      `${at} columns`,
      attributes,
      columns.map(({ name }) => name),
      (name, value) =>
        isMatch(value, IDENTIFIER)
          ? []
          : [`${at} column '${name}' is ${showValue(value)}; use letters of ASCII, digits and _.`],
    ),
    ...entryProblems(
      `${at} relations`,
      relations,
      foreignKeys.map(({ name }) => name),
      (name, value) => relationProblems(`${at} relation '${name}'`, value),
    ),
  ];
}

function idProblems(at: string, id: unknown, { kind, columns }: DatabaseTable): string[] {
  if (id === undefined) return [];
  if (kind === 'table' || kind === 'partitioned table')
    return [
      `${at} id is for views and foreign tables; a ${kind} has the key that its indexes say is unique.`,
    ];
  if (!Array.isArray(id) || id.length === 0 || new Set(id).size < id.length)
    return [
      `${at} id is ${showValue(id)}; use the columns that address a row, such as ["order_id", "line_no"].`,
    ];
  const known = columns.map(({ name }) => name);
  return id
    .filter((name) => !known.includes(name))
    .map((name) => `${at} id has ${showValue(name)}, which is no column.${didYouMean(String(name), known)}`);
}

function entryProblems(
  at: string,
  given: unknown,
  known: readonly string[],
  check: (name: string, value: unknown) => string[],
): string[] {
  if (!isObject(given)) return [`${at} is ${showValue(given)}; use an object.`];
  return Object.entries(given).flatMap(([name, value]) =>
    known.includes(name)
      ? check(name, value)
      : [
          `${at} has '${name}', which is not there.${didYouMean(name, known) || (known.length > 0 ? ` There are ${known.join(', ')}.` : '')}`,
        ],
  );
}

const SIDES = ['one', 'many', 'through'];

function relationProblems(at: string, value: unknown): string[] {
  if (!isObject(value)) return [`${at} is ${showValue(value)}; use { "one": "artist", "many": "albums" }.`];
  return [
    ...unknownMembers(at, value, SIDES),
    ...SIDES.filter((side) => value[side] !== undefined && !isMatch(value[side], IDENTIFIER)).map(
      (side) => `${at}: ${side} is ${showValue(value[side])}; use letters of ASCII, digits and _.`,
    ),
  ];
}

function unknownMembers(at: string, given: object, known: readonly string[]): string[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map(
      (name) => `${at} '${name}' is unknown.${didYouMean(name, known) || ` There are ${known.join(', ')}.`}`,
    );
}

function isMatch(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
