/** Computes the rows behind relations that a request may see, from the rules of their models and of the relation. */
import type { Request } from 'express';
import { MAX_SORT_TERMS, sortRelations } from '../compile/compile-sort.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { everyInclude, type RelatedPlan, type RelationFilter } from '../compile/resource-plan.js';
import type { VisibleRule } from '../declare/access-options.js';
import type { Endpoint, ModelClass } from '../declare/crud-options.js';
import { includedPaths } from '../features/include-names.js';
import { type Access, type AccessForm, OPEN_ACCESS } from '../operation/access.js';
import { openRelation, type RelatedAccess } from '../operation/related-rows.js';
import { namedRelations, readableRelations } from '../request/query/filter-names.js';
import type { Predicate } from '../request/query/predicate.js';
import { parseQueryString } from '../request/query/query-string.js';
import { perPair } from '../util/memo.js';
import { all, type Maybe, then } from '../util/promises.js';
import { guarded, visibleRows } from './evaluate-rules.js';
import { accessRules } from './reference-access.js';

const evaluated = perPair((plan: RelatedPlan, request: Request | null): Maybe<RelatedAccess> => {
  const access = ask(request as Request, plan);
  // The promise may have no other reader; without a handler its rejection would end the process.
  if (access instanceof Promise) access.catch(() => {});
  return access;
});

/** Evaluates the access of a request to the rows behind a relation, once. */
export function relatedAccess(request: Request, plan: RelatedPlan): Maybe<RelatedAccess> {
  return openRelation(plan) ?? evaluated(plan, request);
}

/** Evaluates the rules of several relations, before any row is read. */
export function evaluateRelated(
  request: Request,
  plans: readonly RelatedPlan[],
): Maybe<(plan: RelatedPlan) => RelatedAccess> {
  return then(all(plans.map((plan) => relatedAccess(request, plan))), (granted) => {
    return (plan: RelatedPlan) => {
      const access = openRelation(plan) ?? granted[plans.indexOf(plan)];
      if (access) return access;
      throw new TypeError(`Nothing has asked what the request may see of ${plan.relation.name}.`);
    };
  });
}

/**
 * The relations that a query string names, as far as they can be found before it is parsed. Its parser reports every mistake.
 * Null where no relation with rules can be named.
 *
 * @param ordered parameters that name keys of orders of its own
 * @param hasFilter true where it may have a `q` of its own
 */
export function compileWantedRelations(
  plan: Pick<ResourcePlan, 'relations' | 'sortKeys'>,
  ordered: readonly string[],
  hasFilter: boolean,
): ((url: string, form?: AccessForm) => readonly RelatedPlan[]) | null {
  const { include, filters } = plan.relations;
  const included = everyInclude(include);
  const paths = included.map(({ path }) => path);
  const filtered = [
    hasFilter ? filters : new Map(),
    ...included.map((each) => each.target.relations.filters),
  ];
  const sorted = [plan, ...included.map(({ target }) => target)].flatMap((each) => sortRelations(each));
  const all = [...included, ...filtered.flatMap(everyFiltered), ...sorted];
  if (all.every((each) => openRelation(each))) return null;
  // Names may be percent-encoded.
  const mayName = new RegExp(['include', 'sort', ...ordered, 'q=', '%'].join('|'));
  return (url, { unreadable } = OPEN_ACCESS.form) => {
    if (!mayName.test(url)) return NONE;
    const { parameters } = parseQueryString(url);
    const wanted = includedPaths(parameters.get('include') ?? '', paths);
    const shown = included.filter(({ path }) => wanted.has(path));
    const known = readableRelations(filters, unreadable);
    const named = hasFilter ? namedRelations(known, parameters.get('q')) : NONE;
    const within = shown.flatMap((each) =>
      namedRelations(each.target.relations.filters, parameters.get(`${each.path}.q`)),
    );
    const orderedBy = (sortKeys: ResourcePlan['sortKeys'], name: string) =>
      sortRelations({ sortKeys }, (parameters.get(name) ?? '').split(',', MAX_SORT_TERMS));
    const sorting = [
      ...ordered.flatMap((name) => orderedBy(plan.sortKeys, name)),
      ...shown.flatMap(({ path, target: { sortKeys } }) => orderedBy(sortKeys, `${path}.sort`)),
    ];
    return [...new Set([...shown, ...named, ...within, ...sorting])];
  };
}

const NONE: readonly RelatedPlan[] = Object.freeze([]);

/** The relations that conditions can be about, those behind them too. */
function everyFiltered(filters: ReadonlyMap<string, RelationFilter>): readonly RelatedPlan[] {
  return [...filters.values()].flatMap(({ related, relations }) => [related, ...everyFiltered(relations)]);
}

/** A request that includes a record, or filters by it, must be allowed to read it by itself. */
function ask(request: Request, { relation, target, through, where }: RelatedPlan): Maybe<RelatedAccess> {
  const endpoint: Endpoint = relation.isOne ? 'read' : 'list';
  // The rule of the relation comes last: code behind it may throw, and then nothing would wait for its promise.
  const parts: Maybe<unknown>[] = [
    accessOf(request, relation.target, endpoint),
    through ? accessOf(request, through.model, null) : null,
    where ? seenThrough(request, where, target, relation) : null,
  ];
  return then(all(parts), ([granted, between, rows]) => ({
    target: granted as Access,
    where: rows as Predicate | null,
    through: between as Access | null,
  }));
}

function accessOf(request: Request, model: ModelClass, endpoint: Endpoint | null): Maybe<Access> {
  return accessRules(request)?.accessTo(model)?.(request, endpoint) ?? OPEN_ACCESS;
}

function seenThrough(
  request: Request,
  where: VisibleRule,
  { info }: RelatedPlan['target'],
  { parent, name }: RelatedPlan['relation'],
): Maybe<Predicate | null> {
  const rule = `where of '${name}' of ${parent.name}`;
  return then(guarded(where, request), (answer) => visibleRows(info, answer, rule));
}
