/** What a list or a read with relations answers, computed in memory from the rows of random models. */
import { COMPARATORS } from './filter-arbitrary.js';
import { type Expression, evaluate } from './filter-oracle.js';
import { type AnyModel, type AnyRelation, type Row, TENANT } from './random-relations.js';

/** What is asked of the records at one place. */
export interface AnyQuery {
  readonly q?: Expression | undefined;
  readonly sort?: readonly string[] | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly size?: number | undefined;
}

/** What is asked of relations, by path. Those that are not there are not included. */
export type AnyInclude = ReadonlyMap<string, AnyQuery>;

/** The rows of a list, in their order. */
export function listed(model: AnyModel, { q, sort }: AnyQuery): readonly Row[] {
  return ordered(
    model,
    model.rows.filter((row) => isVisible(model, row) && holds(q, row)),
    sort,
  );
}

/** The JSON of a record with what is included in it. */
export function shown(
  model: AnyModel,
  row: Row,
  { fields }: AnyQuery,
  include: AnyInclude,
  root = model,
  before = '',
): object {
  const own = attributesOf(model)
    .filter((name) => fields === undefined || fields.includes(name))
    .map((name) => [name, jsonOf(model, name, row[name] ?? null)]);
  const related = [...root.include].flatMap(([path, size]) => {
    const name = path.slice(before.length);
    const query = include.get(path);
    if (!query || !path.startsWith(before) || name.includes('.')) return [];
    const relation = model.relations.find((each) => each.name === name) as AnyRelation;
    const { target } = relation;
    const rows = ordered(
      target,
      relatedRows(row, relation).filter((each) => holds(query.q, each)),
      query.sort,
    );
    const show = (each: Row) => shown(target, each, query, include, root, `${path}.`);
    if (!size) return [[name, rows[0] ? show(rows[0]) : null]];
    const count = query.size ?? size.default;
    return [[name, { items: rows.slice(0, count).map(show), has_next: rows.length > count }]];
  });
  return Object.fromEntries([...own, ...related]);
}

/** The names of a model's properties, in their order. */
export function attributesOf({ attributes, hidden, isParanoid }: AnyModel): readonly string[] {
  const names = attributes.map(({ name }) => name).filter((name) => !hidden.has(name));
  return isParanoid ? [...names, 'deletedAt'] : names;
}

function jsonOf({ attributes }: AnyModel, name: string, text: string | null): unknown {
  return text !== null && attributes.find((each) => each.name === name)?.isNumber ? Number(text) : text;
}

function isVisible({ isScoped }: Pick<AnyModel, 'isScoped'>, row: Row): boolean {
  return row['deletedAt'] === null && (!isScoped || row['owner'] === TENANT);
}

function holds(q: Expression | undefined, row: Row): boolean {
  return q === undefined || evaluate(q, row, COMPARATORS) === true;
}

/** The rows that belong to a row, and may be seen. */
function relatedRows(row: Row, relation: AnyRelation): Row[] {
  const { target, association, foreignKey, isByCode, isNarrow, join } = relation;
  const key = isByCode ? 'code' : 'id';
  const isRelated = (other: Row): boolean => {
    if (join)
      return join.rows.some(
        (each) =>
          each['fromKey'] === row['id'] &&
          each['toKey'] === other['id'] &&
          isVisible(join, each) &&
          (!join.isNarrow || each['kind'] === 'x'),
      );
    const name = foreignKey as string;
    return association === 'belongsTo' ? row[name] === other[key] : other[name] === row[key];
  };
  return target.rows.filter(
    (other) => isVisible(target, other) && (!isNarrow || other['kind'] === 'x') && isRelated(other),
  );
}

/** In the order that is asked for, else the default one; equal rows by their key. */
function ordered(
  model: AnyModel,
  rows: readonly Row[],
  sort: readonly string[] = model.defaultSort.split(','),
): Row[] {
  const terms = sort.map((term) => ({ name: term.replace('-', ''), isDown: term.startsWith('-') }));
  if (!terms.some(({ name }) => name === 'id'))
    terms.push({ name: 'id', isDown: terms.at(-1)?.isDown ?? false });
  return [...rows].sort((first, second) => {
    for (const { name, isDown } of terms) {
      const sign = compare(model, name, first[name] ?? null, second[name] ?? null);
      if (sign !== 0) return isDown ? -sign : sign;
    }
    return 0;
  });
}

/** NULL is the largest. */
function compare({ key }: AnyModel, name: string, first: string | null, second: string | null): number {
  if (first === null || second === null) return Number(first === null) - Number(second === null);
  if (name !== 'id') return COMPARATORS[name]?.(first, second) ?? 0;
  if (key === 'integer' || key === 'bigint')
    return Number(BigInt(first) > BigInt(second)) - Number(BigInt(first) < BigInt(second));
  return first < second ? -1 : Number(first > second);
}
