/** Rows that are kept when they are deleted, and are missing from then on. */
import type { FeatureFactory } from '../operation/feature.js';
import type { Predicate } from '../operation/operation.js';
import { aliveRows, allOf, goneRows } from '../operation/predicates.js';

/** For models that are `paranoid`. */
export const softDelete: FeatureFactory = ({ plan }) => {
  const alive = aliveRows(plan.info);
  if (alive === null) return null;
  const amongAlive = <O extends { readonly where: Predicate }>(operation: O): O => ({
    ...operation,
    where: allOf(operation.where, alive),
  });
  const deleted = goneRows(alive);
  return {
    prepare: {
      list: (operation) => ({ ...operation, where: allOf(alive, operation.where) }),
      read: amongAlive,
      update: amongAlive,
      delete: (operation) => ({ ...amongAlive(operation), mark: alive.attribute }),
      restore: (operation) => ({
        ...operation,
        where: allOf(operation.where, deleted),
        set: Object.freeze({ [alive.attribute]: null }),
      }),
      replace: amongAlive,
      purge: (operation) => ({ ...operation, where: allOf(operation.where, deleted) }),
    },
  };
};
