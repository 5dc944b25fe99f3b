/** What a request may see of the rows behind relations: the rules of their models, and that of the relation. */
import type { Request } from 'express';
import { includedPaths } from '../../features/include.js';
import type { VisibleRule } from '../../metadata/access-options.js';
import type { Endpoint, ModelClass } from '../../metadata/crud-options.js';
import { type Access, OPEN_ACCESS } from '../../operation/access.js';
import { all, guarded, type Maybe, then, visibleRows } from '../../operation/ask-access.js';
import type { Predicate } from '../../operation/operation.js';
import type { RelatedAccess } from '../../operation/related-rows.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import { everyInclude, type RelatedPlan } from '../../plan/resource-plan.js';
import { parseQueryString } from '../../query/query-string.js';
import { BoundedCache } from '../../util/bounded-cache.js';
import { accessRules } from './reference-access.js';

/** What was asked of a request, by relation. */
const ASKED = new WeakMap<Request, Map<RelatedPlan, Maybe<RelatedAccess>>>();

/** Asks what a request may see of the rows behind a relation; a second time it gives the same. */
export function relatedAccess(request: Request, plan: RelatedPlan): Maybe<RelatedAccess> {
  if (isOpen(request, plan)) return OPEN;
  const asked = ASKED.get(request) ?? new Map<RelatedPlan, Maybe<RelatedAccess>>();
  ASKED.set(request, asked);
  let known = asked.get(plan);
  if (known === undefined) {
    known = ask(request, plan);
    asked.set(plan, known);
    // Whether anything waits for it is not known here.
    if (known instanceof Promise) known.catch(() => {});
  }
  return known;
}

/** The same for several, before anything is read. */
export function askRelated(
  request: Request,
  plans: readonly RelatedPlan[],
): Maybe<(plan: RelatedPlan) => RelatedAccess> {
  return then(all(plans.map((plan) => relatedAccess(request, plan))), (granted) => {
    return (plan: RelatedPlan) => {
      const access = granted[plans.indexOf(plan)];
      if (access) return access;
      throw new TypeError(`Nothing has asked what the request may see of ${plan.relation.name}.`);
    };
  });
}

/** The relations that a query string is about, as far as that can be told before it is read. */
export function compileWantedRelations({
  relations,
}: Pick<ResourcePlan, 'relations'>): (target: string) => readonly RelatedPlan[] {
  const all = everyInclude(relations.include);
  if (all.length === 0) return () => NONE;
  const wanted = new BoundedCache<readonly RelatedPlan[]>();
  return (target) => {
    if (!target.includes('include')) return NONE;
    const text = parseQueryString(target).parameters.get('include') ?? '';
    return wanted.get(text, () => {
      const paths = includedPaths(text);
      return all.filter(({ path }) => paths.has(path));
    });
  };
}

const NONE: readonly RelatedPlan[] = Object.freeze([]);

/** Of relations without any rule: one for all requests. */
const OPEN: RelatedAccess = Object.freeze({ target: OPEN_ACCESS, where: null, through: null });

/** Whether neither the relation nor the models behind it have rules. */
function isOpen(request: Request, { relation, where }: RelatedPlan): boolean {
  if (where) return false;
  const rules = accessRules(request);
  if (!rules) return true;
  const { target, through } = relation;
  return !rules.accessTo(target) && !(through && rules.accessTo(through.model));
}

/** Whoever includes a record, or filters by it, must be allowed to read it by itself. */
function ask(request: Request, { relation, target, through, where }: RelatedPlan): Maybe<RelatedAccess> {
  const endpoint: Endpoint = relation.isOne ? 'read' : 'list';
  const parts: Maybe<unknown>[] = [
    accessOf(request, relation.target, endpoint),
    where ? seenThrough(request, where, target) : null,
    through ? accessOf(request, through.model, null) : null,
  ];
  return then(all(parts), ([granted, rows, between]) => ({
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
): Maybe<Predicate | null> {
  return then(guarded(where, request), (answer) => visibleRows(info, answer));
}
