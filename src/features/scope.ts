/** Rows that a request may see and write: `scope` and `visible`. */
import { type Access, presetOf } from '../operation/access.js';
import type { FeatureFactory } from '../operation/feature.js';
import type { Predicate } from '../operation/operation.js';
import { allOf } from '../operation/predicates.js';

/** Part of each operation on the rows of the resource. */
export const scope: FeatureFactory = ({ plan }) => {
  if (plan.access === null) return null;
  const attributes = [...plan.access.scope.keys()];
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
    problems: { list: [403], read: [403], create: [403], update: [403], delete: [403] },
  };
};

function withPresets(row: Readonly<Record<string, unknown>>, attributes: readonly string[], access: Access) {
  const presets = attributes.flatMap((name) => {
    const value = presetOf(access, name);
    return value === undefined ? [] : { [name]: value };
  });
  return Object.assign({}, row, ...presets);
}
