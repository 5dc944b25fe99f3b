/** Foreign keys -> relations both ways: associations by one column that is unique alone, and relations by keys of several. */
import type { DatabaseForeignKey, DatabaseTable, KeyNames, LeftOut, RelationPlan } from './model-plan.js';
import { keyOf, type NameChoices } from './name-choices.js';
import type { NameProblems } from './name-problems.js';
import { camelCase, capital, plural, singular, withLast, wordsOf } from './names.js';
import { isSecret, isWhole, plainColumns, type UsableColumns, unreserved } from './plan-attributes.js';

interface ColumnPair {
  readonly column: string;
  readonly targetColumn: string;
}

/** A foreign key that becomes relations. */
export interface Reference {
  readonly key: DatabaseForeignKey;
  readonly child: DatabaseTable;
  readonly parent: DatabaseTable;
  readonly column: string;
  readonly targetColumn: string;
  /** The further columns of a key of several; empty for an association. */
  readonly more: readonly ColumnPair[];
  /** True where a parent has one child at most. */
  readonly isUnique: boolean;
  /** True for the only foreign key of a table to itself. */
  readonly isParent: boolean;
}

/** Columns of all tables that become models. */
type Usable = ReadonlyMap<DatabaseTable, UsableColumns>;

/** Foreign keys that become relations, and all others with the reason. In an order that names alone decide. */
export function findReferences(
  usable: Usable,
  otherTables: readonly string[] = [],
): { readonly references: readonly Reference[]; readonly leftOut: readonly LeftOut[] } {
  const byName = new Map([...usable.keys()].map((table) => [keyOf(table), table]));
  const references: Reference[] = [];
  const leftOut: LeftOut[] = [];
  for (const child of usable.keys()) {
    const seen = new Map<string, string>();
    for (const key of [...child.foreignKeys].sort(byColumns)) {
      const target = `${key.targetSchema}.${key.targetTable}`;
      const construct = `foreign key "${key.name}" of ${keyOf(child)}`;
      const parent = byName.get(target);
      const found = parent ? referenceOf(key, child, parent, usable) : missing(target, otherTables);
      const name = typeof found === 'string' ? '' : JSON.stringify([target, pairsOf(found)]);
      const again = seen.get(name);
      if (typeof found === 'string') leftOut.push({ construct, reason: found });
      else if (again !== undefined)
        leftOut.push({ construct, reason: `It is the same relation as "${again}".` });
      else {
        seen.set(name, key.name);
        references.push(found);
      }
    }
  }
  return { references, leftOut };
}

/** Order of foreign keys: of two over the same columns, the key with fewer columns comes first. */
function byColumns(one: DatabaseForeignKey, other: DatabaseForeignKey): number {
  const text = (key: DatabaseForeignKey) =>
    JSON.stringify([key.columns.length, key.columns, key.targetSchema, key.targetTable, key.name]);
  return text(one) < text(other) ? -1 : 1;
}

function missing(target: string, otherTables: readonly string[]): string {
  return otherTables.includes(target)
    ? `Its table ${target} is not among those of this run.`
    : `Its table ${target} has no model.`;
}

function pairsOf({ column, targetColumn, more }: Reference): readonly ColumnPair[] {
  return [{ column, targetColumn }, ...more];
}

/** The columns that rows are joined by, or why there are none. */
function referenceOf(
  key: DatabaseForeignKey,
  child: DatabaseTable,
  parent: DatabaseTable,
  usable: Usable,
): Reference | string {
  const { columns, targetColumns, isFull } = key;
  const own = columnsOf(usable, child);
  const other = columnsOf(usable, parent);
  const at = columns.findIndex((column, place) => {
    const isReferred = isUniqueAlone(parent, targetColumns[place] ?? '');
    const others = columns.filter((each) => each !== column);
    return isReferred && (isFull || others.every((each) => own.get(each)?.isNotNull));
  });
  if (at < 0 && !isUniqueTogether(parent, targetColumns)) {
    const [names] = targetColumns;
    return columns.length > 1
      ? `Its columns (${targetColumns.join(', ')}) of ${keyOf(parent)} are not unique together in all rows, and rows of others would be joined.`
      : `Its column ${keyOf(parent)}.${names} is not unique alone in all rows, and rows of others would be joined.`;
  }
  const all = columns.map((column, place) => ({ column, targetColumn: targetColumns[place] ?? '' }));
  const [first, ...more] = (at < 0 ? all : [all[at]]) as [ColumnPair, ...ColumnPair[]];
  for (const pair of [first, ...more]) {
    const [from, to] = [own.get(pair.column), other.get(pair.targetColumn)];
    if (!from || !to) return 'A column of it has no attribute.';
    if (isSecret(child.name, from) || isSecret(parent.name, to))
      return 'Its column holds a secret, which no answer shows.';
  }
  const isUnique = at >= 0 && isUniqueAlone(child, first.column);
  const isParent = child === parent && child.foreignKeys.filter((each) => isTo(each, child)).length === 1;
  return { key, child, parent, ...first, more, isUnique, isParent: isParent && at >= 0 };
}

function isTo({ targetSchema, targetTable }: DatabaseForeignKey, { schema, name }: DatabaseTable): boolean {
  return targetSchema === schema && targetTable === name;
}

function columnsOf(usable: Usable, table: DatabaseTable) {
  return new Map((usable.get(table)?.columns ?? []).map((column) => [column.name, column]));
}

function isUniqueAlone(table: DatabaseTable, column: string): boolean {
  return isUniqueTogether(table, [column]);
}

function isUniqueTogether({ indexes }: DatabaseTable, columns: readonly string[]): boolean {
  const sorted = columns.toSorted().join('\0');
  return indexes.some((index) => isWhole(index) && plainColumns(index).toSorted().join('\0') === sorted);
}

/** Endings of columns that refer to another table. */
const ENDINGS: ReadonlySet<string> = new Set(['id', 'code', 'uuid', 'fk']);

/** The name of the relation to one: the column without its ending. */
export function oneName({ column, targetColumn, more, parent, isParent }: Reference): string {
  if (more.length > 0) return unreserved(camelCase(withLast(wordsOf(parent.name), singular)) || 'record');
  const words = wordsOf(column);
  const last = words.at(-1) ?? '';
  if (words.length > 1 && ENDINGS.has(last)) return unreserved(camelCase(words.slice(0, -1)));
  if (isParent) return 'parent';
  const [, joined = '', ending = ''] =
    /^(.{3,}?)(id|uuid|code|fk)$/.exec(words.length === 1 ? last : '') ?? [];
  const target = wordsOf(parent.name);
  // Salespersonid and countryregioncode, and no barcode.
  const isReference =
    ending === 'id' || column === targetColumn || joined.endsWith(withLast(target, singular).join(''));
  if (joined !== '' && isReference) return unreserved(camelCase([joined]));
  const isBare = words.length === 0 || ENDINGS.has(last);
  return unreserved(camelCase(isBare ? withLast(target, singular) : words) || 'record');
}

interface RelationSite {
  readonly className: string;
  /** Attributes by the names of columns. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly relations: RelationPlan[];
}

type Sites = ReadonlyMap<DatabaseTable, RelationSite>;

/** Adds relations to their models: first to one record, then back, then through tables of pairs. */
export function planRelations(
  references: readonly Reference[],
  sites: Sites,
  usable: Usable,
  choices: NameChoices,
  problems: NameProblems,
): void {
  const planner = new RelationPlanner(references, sites, usable, choices, problems);
  const ones = new Map(references.map((reference) => [reference, planner.addOne(reference)]));
  for (const reference of references) planner.addBack(reference, ones.get(reference) ?? '');
  for (const [first, second] of pairTables(references, usable)) {
    planner.addThrough(first, second, ones);
    planner.addThrough(second, first, ones);
  }
}

/** Tables of exactly two references, which are its key and all that it has. */
function pairTables(references: readonly Reference[], usable: Usable): (readonly [Reference, Reference])[] {
  return [...usable].flatMap(([table, { key }]) => {
    const [first, second, ...more] = references.filter(({ child }) => child === table);
    if (!first || !second || more.length > 0 || table.columns.length !== 2) return [];
    if (first.more.length + second.more.length > 0) return [];
    const isPair = key.length === 2 && key.includes(first.column) && key.includes(second.column);
    return isPair && table.foreignKeys.length === 2 ? [[first, second] as const] : [];
  });
}

class RelationPlanner {
  constructor(
    readonly references: readonly Reference[],
    readonly sites: Sites,
    readonly usable: Usable,
    readonly choices: NameChoices,
    readonly problems: NameProblems,
  ) {}

  /** @returns its name */
  addOne(reference: Reference): string {
    const { child, parent, key } = reference;
    const plain = oneName(reference);
    const target = this.#site(parent).className;
    const longer = plain.toLowerCase().endsWith(target.toLowerCase()) ? [] : [`${plain}${target}`];
    const name = this.#free(reference, child, 'one', [plain, ...longer, `${plain}Record`]);
    this.#site(child).relations.push({
      kind: reference.more.length > 0 ? 'BelongsToKey' : 'BelongsTo',
      name,
      target,
      ...this.#keys(reference),
      onDelete: key.onDelete,
    });
    return name;
  }

  addBack(reference: Reference, one: string): void {
    const { child, parent, key, isUnique } = reference;
    const { className } = this.#site(child);
    const words = wordsOf(className);
    const plain = child === parent ? ['child'] : words;
    const base = unreserved(camelCase(withLast(plain, isUnique ? (word) => word : plural)));
    const isTwice =
      this.references.filter((each) => each.child === child && each.parent === parent).length > 1;
    const byOne = `${base}By${capital(one)}`;
    const names = isTwice ? [byOne, `${byOne}List`] : [base, byOne, `${base}List`];
    this.#site(parent).relations.push({
      kind: reference.more.length > 0 ? 'HasManyKey' : isUnique ? 'HasOne' : 'HasMany',
      name: this.#free(reference, parent, 'many', names),
      target: className,
      ...this.#keys(reference),
      onDelete: key.onDelete,
    });
  }

  /** Through the table of `own` to the parent of `other`. */
  addThrough(own: Reference, other: Reference, ones: ReadonlyMap<Reference, string>): void {
    const model = this.#site(own.child).className;
    const target = this.#site(other.parent).className;
    const words = wordsOf(own.parent === other.parent ? (ones.get(other) ?? '') : target);
    const plain = unreserved(camelCase(withLast(words, plural)));
    const name = this.#free(own, own.parent, 'through', [plain, `${plain}By${model}`, `${plain}List`]);
    const { foreignKey: otherKey, referencedKey } = this.#keys(other);
    this.#site(own.parent).relations.push({
      kind: 'BelongsToMany',
      name,
      target,
      ...this.#keys(own),
      through: { model, otherKey, referencedKey },
    });
  }

  #site(table: DatabaseTable): RelationSite {
    return this.sites.get(table) as RelationSite;
  }

  #keys(reference: Reference) {
    const { child, parent, more } = reference;
    const [first, ...others] = pairsOf(reference).map(({ column, targetColumn }) => ({
      foreignKey: this.#site(child).attributes.get(column) ?? column,
      referencedKey: this.#site(parent).attributes.get(targetColumn) ?? targetColumn,
    })) as [KeyNames, ...KeyNames[]];
    return more.length > 0 ? { ...first, more: others } : first;
  }

  /** The first of the names that the model does not have yet, unless people chose another. */
  #free(
    { key, child }: Reference,
    table: DatabaseTable,
    side: 'one' | 'many' | 'through',
    names: readonly string[],
  ): string {
    const chosen = this.choices[keyOf(child)]?.relations?.[key.name]?.[side];
    const { attributes, relations } = this.#site(table);
    const taken = new Set([...attributes.values(), ...relations.map((each) => each.name)]);
    const wanted = chosen === undefined ? names : [chosen];
    const found = wanted.find((name) => !taken.has(name) && unreserved(name) === name);
    if (found !== undefined) return found;
    const [first = 'relation'] = wanted;
    let count = 2;
    while (taken.has(`${first}${count}`)) count += 1;
    this.problems.add(
      `The relation "${first}" of ${keyOf(table)}, by the foreign key "${key.name}" of ${keyOf(child)}, has a name that is taken.`,
      [{ table: keyOf(child), relation: key.name, names: { [side]: `${first}${count}` } }],
    );
    return `${first}${count}`;
  }
}
