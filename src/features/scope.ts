/** Rows that a request may see and write: `scope` and `visible`; and refusals of a whole request. */
import type { AccessPlan, RelatedPlan } from '../compile/resource-plan.js';
import { ENDPOINTS, type Endpoint, RULES_OF, writesOf } from '../declare/endpoint.js';
import { type Access, placeWithin, presetOf } from '../operation/access.js';
import type { FeatureFactory } from '../operation/feature.js';
import type { ListOperation, ReplaceOperation } from '../operation/operation.js';
import { allOf, equalTo } from '../operation/predicates.js';
import type { Predicate } from '../request/query/predicate.js';
import { perPair } from '../util/memo.js';
import { without } from '../util/without.js';

/** Part of each operation on the rows of the resource. */
export const scope: FeatureFactory = ({ plan: { access: rules } }) => {
  const inForm = perPair((own: Predicate, where: Predicate | null) => allOf(own, where));
  const within = <O extends { readonly where: Predicate }>(
    operation: O,
    _inputs: unknown,
    { where, form }: Access,
  ): O => {
    if (where === null) return operation;
    // Predicates of a form are compiled to one object, so that the text of their statement is found again.
    const both = where === form.where ? inForm(operation.where, where) : allOf(operation.where, where);
    return { ...operation, where: both };
  };
  const withinAllowed = <O extends { readonly where: Predicate }>(
    operation: O,
    inputs: unknown,
    access: Access,
  ): O => {
    const seen = within(operation, inputs, access);
    return access.allowed === null ? seen : { ...seen, where: allOf(seen.where, access.allowed) };
  };
  return {
    digest: rowsSeen,
    rewrite: {
      list: withinList,
      read: within,
      create: (operation, _inputs, access) =>
        access.form.scope.size === 0 ? operation : { ...operation, row: withPresets(operation.row, access) },
      update: withinAllowed,
      delete: withinAllowed,
      replace(operation, inputs, access) {
        const { where: seen } = within(operation, inputs, access);
        const narrowed = withinAllowed(operation, inputs, access);
        return keepScope(access.allowed === null ? narrowed : { ...narrowed, seen }, access);
      },
    },
    problems: Object.fromEntries(
      ENDPOINTS.flatMap((each) => (rules !== null && mayRefuse(rules, each) ? [[each, [403]]] : [])),
    ),
  };
};

/** True where a rule can refuse a request about the rows behind a relation. */
export function isRuled({ relation, target: { access }, throughAccess, where }: RelatedPlan): boolean {
  return (
    where !== null ||
    (access !== null && mayRefuse(access, relation.isOne ? 'read' : 'list')) ||
    (throughAccess !== null && hidesRows(throughAccess))
  );
}

function withinList(operation: ListOperation, _inputs: unknown, { where }: Access): ListOperation {
  return where === null ? operation : { ...operation, where: allOf(operation.where, where) };
}

/** The part of the access in the cursors of a list; undefined where all rows may be seen. */
function rowsSeen(_inputs: unknown, access: Access): string | undefined {
  return access.digest() || undefined;
}

/** True where a request may be refused as a whole. Rules of attributes refuse none. */
function mayRefuse(access: AccessPlan, operation: Endpoint): boolean {
  const isGiven = (kind: 'create' | 'update') =>
    [...access.set.values()].some(({ on }) => on === kind || on === 'both');
  return (
    hidesRows(access) ||
    RULES_OF[operation].some((rule) => (access.can.get(rule) ?? true) !== true) ||
    writesOf(operation).some(isGiven)
  );
}

function hidesRows({ scope, visible }: AccessPlan): boolean {
  return scope.size > 0 || visible !== null;
}

/** A row stays where it is: one that belongs elsewhere than the new one would is not replaced. */
function keepScope(operation: ReplaceOperation, access: Access): ReplaceOperation {
  const { where, row, set } = operation;
  const attributes = [...access.form.scope.keys()];
  if (attributes.length === 0) return operation;
  const same = placeWithin(access, row).map(([name, text]) => equalTo(name, text));
  return {
    ...operation,
    where: allOf(where, ...same),
    row: withPresets(row, access),
    set: without(set, attributes),
  };
}

function withPresets(row: Readonly<Record<string, unknown>>, access: Access) {
  const presets = [...access.form.scope.keys()].flatMap((name) => {
    const value = presetOf(access, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...row, ...Object.fromEntries(presets) };
}
