/** Columns -> attributes: their names, the ones that address a row, and those that clients may filter and sort by. */
import { Model } from 'sequelize-typescript';
import { misreadColumn, misreadName, RECORD_FIELDS } from '../describe/describe-model.js';
import { throwProblems } from '../util/config-error.js';
import type { AttributePlan, DatabaseColumn, DatabaseIndex, DatabaseTable, LeftOut } from './model-plan.js';
import { keyOf, type TableNames } from './name-choices.js';
import type { NameProblems } from './name-problems.js';
import { camelCase, wordsOf } from './names.js';

/** Columns of a table that a model can have. */
export interface UsableColumns {
  readonly columns: readonly DatabaseColumn[];
  /** Columns that address a row, in the order of the index. */
  readonly key: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Why Sequelize would read something else by a name; null where it reads it. */
export function nameReason(name: string, misreadBy = misreadName): string | null {
  const misread = misreadBy(name);
  return misread === null ? null : `Its name ${misread}; a view can give it another name.`;
}

/** Types of values that an id may have. */
const ADDRESSING =
  /^(?:smallint|integer|bigint|oid|numeric|boolean|uuid|text|character varying|character|bpchar|(?:.+\.)?citext|date|time without time zone|timestamp with(?:out)? time zone|inet|cidr|macaddr8?)$/;

/** Columns whose types and names have a form, and the key among them. */
export function usableColumns(table: DatabaseTable, { id }: TableNames): UsableColumns {
  const own = keyOf(table);
  const columns = table.columns.filter(
    ({ name, formProblem }) => formProblem === null && nameReason(name, misreadColumn) === null,
  );
  const leftOut = table.columns
    .filter((column) => !columns.includes(column))
    .map(({ name, formProblem, isNotNull, defaultSql }) => ({
      construct: `column ${own}.${name}`,
      reason: `${formProblem ?? nameReason(name, misreadColumn)}${isNotNull && defaultSql === null && table.kind.endsWith('table') ? ' It may not be NULL, so no request can create a row.' : ''}`,
    }));
  const key = keyColumns(table, columns, id);
  return { columns, key, leftOut: key.length > 0 ? leftOut : [...leftOut, keyless(table)] };
}

function keyless({ kind, primaryKey, ...table }: DatabaseTable): LeftOut {
  const own = keyOf(table);
  const construct = `id of ${own}`;
  if (!kind.endsWith('view') && kind !== 'foreign table') {
    const reason =
      primaryKey.length > 0
        ? `Its key (${primaryKey.join(', ')}) has a column that ${table.columns.some((column) => primaryKey.includes(column.name) && isSecret(table.name, column)) ? 'is hidden as a secret' : 'no path can show'}`
        : 'No unique index is over all rows, and over columns that are NOT NULL';
    return { construct, reason: `${reason}; its rows are only listed.` };
  }
  return {
    construct,
    reason: `Nothing says which columns of a ${kind} are unique, so its rows are only listed; write its columns as "id" into the file of names: { "schema.view": { "id": ["…"] } }.`,
  };
}

/** The primary key; else the shortest unique index over all rows, whose columns are never NULL. */
function keyColumns(
  table: DatabaseTable,
  columns: readonly DatabaseColumn[],
  chosen: readonly string[] | undefined,
): readonly string[] {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const canAddress = (name: string): boolean => {
    const column = byName.get(name);
    return (
      column !== undefined &&
      !column.isArray &&
      !isSecret(table.name, column) &&
      (column.labels !== null || ADDRESSING.test(column.base))
    );
  };
  if (chosen) {
    throwProblems(
      chosen
        .filter((name) => !canAddress(name))
        .map(
          (name) =>
            `The file of names, ${keyOf(table)}: id has '${name}', whose values no path can show; use other columns.`,
        ),
    );
    return chosen;
  }
  if (table.primaryKey.length > 0 && table.primaryKey.every(canAddress)) return table.primaryKey;
  const isView = table.kind === 'materialized view';
  const isNever = (name: string) => isView || byName.get(name)?.isNotNull === true;
  const place = (name: string) => columns.findIndex((column) => column.name === name);
  const places = (names: readonly string[]) =>
    names.map((name) => String(place(name)).padStart(5, '0')).join();
  const [shortest] = table.indexes
    .filter(isWhole)
    .filter(({ isPrimary }) => !isPrimary)
    .map((index) => plainColumns(index))
    .filter((names) => names.every((name) => canAddress(name) && isNever(name)))
    .sort((one, other) => one.length - other.length || (places(one) < places(other) ? -1 : 1));
  return shortest ?? [];
}

/** True for an index that makes its columns unique together, in all rows, at once. */
export function isWhole({ isUnique, isExact, predicate, columns }: DatabaseIndex): boolean {
  return isUnique && isExact && predicate === null && !columns.includes(null);
}

/** Columns of an index without expressions. */
export function plainColumns({ columns }: DatabaseIndex): string[] {
  return columns.filter((column) => column !== null);
}

const SECRET =
  /passw|kennwort|mot_de_passe|contrasen|senha|parol|(?:^|_)pass$|pwd|pass_?(?:crypt|code|phrase)|(?:^|_)encrypted(?:_|$)|ciphertext|(?:remember|activation|reset|confirmation)_digest|secret(?!ar)|token(?!able)|(?:api|private|access|signing|encryption|session|auth|activation)_?key|credential|(?:backup|recovery)_?code|(?:^|_)(?:hash|salt|otp|pin|cvv|cvc)(?:_|$)|[a-z\d](?:hash|(?<!ba)salt)(?:_|$)/;
/** Columns that hold a secret in a table of secrets. */
const SECRET_TABLE =
  /token|secret|credential|password|(?:api|access|auth|private|session|signing|encryption)_?key/;
const SECRET_VALUE = /^(?:key|value|code)$/;
/** Types that hold no secret: times and flags beside one. */
const NO_SECRET = /^(?:money|boolean|date|interval|time(?:stamp)? with(?:out)? time zone)$/;
const NUMBER = /^(?:smallint|integer|bigint|real|double precision|numeric)$/;
/** Secrets that are numbers, and no counts of them. */
const SECRET_NUMBER =
  /(?:^|_)(?:pass(?:word|wd|code)?|pwd|secret|token|pin|otp|cvv|cvc)(?:_?(?:code|no|number))?$/;

/** True for names such as `password_hash`, and not for references such as `token_id` and kinds such as `token_type`. */
export function isSecret(table: string, { name, base, labels }: DatabaseColumn): boolean {
  const word = wordsOf(name).join('_') || name.toLowerCase();
  if (labels !== null || NO_SECRET.test(base) || /_(?:(?:uu)?id|type)$/.test(word)) return false;
  if (NUMBER.test(base)) return SECRET_NUMBER.test(word);
  return SECRET.test(word) || (SECRET_VALUE.test(word) && SECRET_TABLE.test(table.toLowerCase()));
}

/** Words that no variable can be called, and names that the types of records have. */
const RESERVED: ReadonlySet<string> = new Set(
  (
    'break case catch class const continue debugger default delete do else enum export extends false finally for function if import in ' +
    'instanceof new null return super switch this throw true try typeof var void while with implements interface let package private ' +
    'protected public static yield await any as async abstract constructor declare get is module namespace never readonly require set ' +
    'symbol type undefined unknown of arguments eval ' +
    '_attributes _creationAttributes _model _customGetters _customSetters _hasCustomGetters _hasCustomSetters'
  ).split(' '),
);

/** True where an attribute or a relation of a model may not have the name. */
function isReserved(name: string): boolean {
  return RESERVED.has(name) || RECORD_FIELDS.has(name) || name in Model.prototype;
}

/** A name that records have no member of. */
export function unreserved(name: string): string {
  return isReserved(name) ? `${name}_` : name;
}

/** A foreign key column, with the name that its relation would have. */
interface ReferenceName {
  readonly column: string;
  readonly relation: string;
}

/** Attributes of a table. Where a column has the name of its relation, the attribute ends with `Id`. */
export function planAttributes(
  table: DatabaseTable,
  { columns, key }: UsableColumns,
  references: readonly ReferenceName[],
  { columns: names = {} }: TableNames,
  problems: NameProblems,
): readonly AttributePlan[] {
  // A column may have the name of a member of objects.
  const chosen = new Map(Object.entries(names));
  const plain = new Map(
    columns.map((column) => [column.name, chosen.get(column.name) ?? plainName(table, column, key)]),
  );
  const taken = new Set(plain.values());
  for (const { column, relation } of references) {
    const longer = `${relation}Id`;
    if (plain.get(column) !== relation || chosen.has(column) || taken.has(longer)) continue;
    taken.delete(relation);
    taken.add(longer);
    plain.set(column, longer);
  }
  reportSame(table, plain, problems);
  for (const [column, name] of chosen)
    if (plain.has(column) && (isReserved(name) || (name === 'id' && !key.includes(column))))
      problems.add(`The attribute '${name}' of ${keyOf(table)} is the name of a member of records.`, [
        { table: keyOf(table), column, attribute: `${name}_` },
      ]);
  return columns.map((column) => ({
    name: plain.get(column.name) ?? column.name,
    column,
    isKey: key.includes(column.name),
    isSecret: isSecret(table.name, column),
  }));
}

function plainName({ columns }: DatabaseTable, { name }: DatabaseColumn, key: readonly string[]): string {
  const words = wordsOf(name);
  const place = columns.findIndex((column) => column.name === name) + 1;
  const plain = words.length > 0 ? camelCase(words) : `column${place}`;
  // Sequelize takes it for the key.
  if (plain === 'id' && !key.includes(name)) return 'rowId';
  return unreserved(plain);
}

/** Sequelize reads a returned column as the attribute of that name, so no attribute may have the name of another column. */
function reportSame(table: DatabaseTable, names: ReadonlyMap<string, string>, problems: NameProblems): void {
  const owners = new Map([...names].filter(([column, name]) => column === name));
  const taken = new Set([...names.keys(), ...names.values()]);
  for (const [column, name] of names) {
    const owner = owners.get(name) ?? (names.has(name) ? name : column);
    owners.set(name, owner);
    if (owner === column) continue;
    let count = 2;
    while (taken.has(`${name}_${count}`)) count += 1;
    const attribute = `${name}_${count}`;
    taken.add(attribute);
    const problem =
      names.get(owner) === name
        ? `The columns "${owner}" and "${column}" of ${keyOf(table)} would both be the attribute ${name}.`
        : `The attribute ${name} of the column "${column}" of ${keyOf(table)} has the name of another column.`;
    problems.add(problem, [{ table: keyOf(table), column, attribute }]);
  }
}

/** Types whose values are compared by NULL alone. */
const UNCOMPARED =
  /^(?:jsonb?|bytea|xml|point|line|lseg|box|path|polygon|circle|tsvector|tsquery|reg[a-z]+|(?:.+\.)?(?:hstore|cube))$/;
/** Types with an equality, and without an order. */
const UNORDERED = /^(?:.+\.)?(?:is[bsm]n(?:13)?|ean13|upc)$/;
const ORDERED_INDEX = 'btree';

/** Attributes that clients may filter and sort by: first columns of indexes over all rows. */
export function planQueries(
  { indexes }: DatabaseTable,
  attributes: readonly AttributePlan[],
): { readonly filterAllow: readonly string[]; readonly sortAllow: readonly string[] } {
  const leading = (methods: (method: string) => boolean) =>
    new Set(
      indexes
        .filter(({ method, predicate }) => methods(method) && predicate === null)
        .map(({ columns }) => columns[0]),
    );
  const found = leading(() => true);
  const ordered = leading((method) => method === ORDERED_INDEX);
  const open = attributes.filter(
    ({ isSecret: isHidden, column }) => !isHidden && !UNCOMPARED.test(column.base),
  );
  return {
    filterAllow: open.filter(({ column }) => found.has(column.name)).map(({ name }) => name),
    sortAllow: open
      .filter(({ column }) => ordered.has(column.name) && !column.isArray && !UNORDERED.test(column.base))
      .map(({ name }) => name),
  };
}
