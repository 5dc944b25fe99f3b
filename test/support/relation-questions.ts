/** Random requests for records and lists of random models, with relations in each parameter. */
import fc from 'fast-check';
import { type AnyCount, type AnyModel, attributesOf, PAGE_MAX, relationOf, targetAt } from './any-model.js';
import { filterOver, printFilter } from './relation-filters.js';
import { type AnyInclude, type AnyQuery, listed, type Under } from './relation-oracle.js';

/** A request of a route. */
export interface Question {
  readonly model: AnyModel;
  /** The place of a row that is read; null is a list. */
  readonly id: number | null;
  /** The relation of a list under that row. */
  readonly under: string | null;
  readonly own: AnyQuery;
  readonly include: AnyInclude;
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

/** A random query of a list. */
function listQuery(
  model: AnyModel,
  sizes: { readonly min: number; readonly max: number },
  count: AnyCount | null,
): fc.Arbitrary<AnyQuery> {
  const sortable = model.isPlain ? ['id'] : ['id', 'whole', 'text'];
  const sort = fc
    .subarray(sortable, { minLength: 1 })
    .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom(name, `-${name}`))));
  return fc.record({
    fields: fieldsOf(model),
    sort: maybe(sort),
    size: maybe(fc.integer(sizes)),
    q: model.isPlain
      ? fc.constant(undefined)
      : fc.oneof(
          { arbitrary: fc.constant(undefined), weight: 1 },
          { arbitrary: filterOver(model), weight: 2 },
        ),
    count: count ? maybe(fc.constantFrom(...count.allow)) : fc.constant(undefined),
  });
}

function fieldsOf(model: AnyModel): fc.Arbitrary<readonly string[] | undefined> {
  return maybe(fc.subarray([...attributesOf(model)], { minLength: 1 }));
}

/** Some of the relations; those before them come along. */
function includeOf(model: AnyModel): fc.Arbitrary<AnyInclude> {
  return fc.subarray([...model.include.keys()]).chain((chosen) => {
    const paths = [...model.include.keys()].filter((path) =>
      chosen.some((each) => `${each}.`.startsWith(`${path}.`)),
    );
    const queries = paths.map((path): fc.Arbitrary<AnyQuery> => {
      const place = model.include.get(path);
      const target = targetAt(model, path);
      if (!place?.size) return fc.record({ fields: fieldsOf(target) });
      return listQuery(target, { min: 0, max: place.size.max }, place.count);
    });
    return fc.tuple(...queries).map((each) => new Map(paths.map((path, at) => [path, each[at] as AnyQuery])));
  });
}

/** Prints a failure as its request, and not as the whole world. */
function told(question: fc.Arbitrary<Question>): fc.Arbitrary<Question> {
  return question.map((each) => ({ ...each, [fc.toStringMethod]: () => urlOf(each, {}) }));
}

/** A read of a record. */
export function readOf(model: AnyModel): fc.Arbitrary<Question> {
  const question = fc.record({
    model: fc.constant(model),
    id: fc.nat({ max: Math.max(0, model.rows.length - 1) }),
    under: fc.constant(null),
    own: fc.record({ fields: fieldsOf(model) }),
    include: includeOf(model),
  });
  return told(question);
}

/** A list, or one under a record. */
export function listOf(model: AnyModel): fc.Arbitrary<Question> {
  const lists = [null, ...(model.rows.length > 0 ? model.subresources.keys() : [])];
  const question = fc.constantFrom(...lists).chain((under) => {
    const target = under === null ? model : relationOf(model, under).target;
    return fc.record({
      model: fc.constant(model),
      id: under === null ? fc.constant(null) : fc.nat({ max: model.rows.length - 1 }),
      under: fc.constant(under),
      own: listQuery(target, { min: 1, max: PAGE_MAX }, target.count),
      include: includeOf(target),
    });
  });
  return told(question);
}

/** The model whose records are answered. */
export function answered({ model, under }: Question): AnyModel {
  return under === null ? model : relationOf(model, under).target;
}

/** The rows of a list; null where its record is not seen. */
export function rowsOf({ model, id, under, own }: Question): ReturnType<typeof listed> | null {
  if (id === null || under === null) return listed(model, own);
  const row = model.rows[id];
  if (!row || !listed(model, {}).includes(row)) return null;
  const relation = relationOf(model, under);
  const found: Under = { row, relation, isRuled: model.subresources.get(under) ?? false };
  return listed(relation.target, own, found);
}

/** The path and the parameters of a request. */
export function urlOf({ model, id, under, own, include }: Question, page: Record<string, string>): string {
  const given = new URLSearchParams(page);
  const add = (prefix: string, { q, sort, fields, size, count }: AnyQuery) => {
    if (fields) given.set(`${prefix}fields`, fields.join());
    if (sort) given.set(`${prefix}sort`, sort.join());
    if (size !== undefined) given.set(`${prefix}size`, `${size}`);
    if (q) given.set(`${prefix}q`, printFilter(q));
    if (count) given.set(`${prefix}count`, count);
  };
  add('', own);
  if (include.size > 0) given.set('include', [...include.keys()].join());
  for (const [path, query] of include) add(`${path}.`, query);
  const key = id === null ? '' : `/${encodeURIComponent(model.rows[id]?.['id'] ?? '')}`;
  return `/${model.name}${key}${under === null ? '' : `/${under}`}?${given}`;
}
