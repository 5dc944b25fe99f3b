/** Rows that a request may see and write: `scope` and `visible`; and what refuses a request as a whole. */

import { type Endpoint, OPERATIONS } from '../metadata/endpoint.js';
import { type Access, presetOf } from '../operation/access.js';
import type { FeatureFactory } from '../operation/feature.js';
import type { Predicate } from '../operation/operation.js';
import { allOf } from '../operation/predicates.js';
import type { AccessPlan } from '../plan/access-plan.js';

/** Part of each operation on the rows of the resource. */
export const scope: FeatureFactory = ({ plan }) => {
  const { access: rules } = plan;
  if (rules === null) return null;
  const attributes = [...rules.scope.keys()];
  const within = <O extends { readonly where: Predicate }>(
    operation: O,
    _inputs: unknown,
    { where }: Access,
  ): O => (where === null ? operation : { ...operation, where: allOf(operation.where, where) });
  return {
    rewrite: {
      list: (operation, _inputs, { where }) =>
        where === null ? operation : { ...operation, where: allOf(operation.where, where) },
      read: within,
      create: (operation, _inputs, access) => ({
        ...operation,
        rows: operation.rows.map((row) => withPresets(row, attributes, access)),
      }),
      update: within,
      delete: within,
    },
    problems: Object.fromEntries(
      OPERATIONS.flatMap((each) => (mayRefuse(rules, each) ? [[each, [403]]] : [])),
    ),
  };
};

/** Whether a request may be refused as a whole. Rules of attributes refuse none. */
export function mayRefuse({ can, scope, visible }: AccessPlan, operation: Endpoint): boolean {
  return scope.size > 0 || visible !== null || (can.get(operation) ?? true) !== true;
}

function withPresets(row: Readonly<Record<string, unknown>>, attributes: readonly string[], access: Access) {
  const presets = attributes.flatMap((name) => {
    const value = presetOf(access, name);
    return value === undefined ? [] : { [name]: value };
  });
  return Object.assign({}, row, ...presets);
}
