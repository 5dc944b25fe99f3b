/** Rows that are kept when they are deleted, and are missing from then on, unless a request asks for them: `deleted`. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { Feature, FeatureContext, FeatureFactory, Input } from '../../operation/feature.js';
import { allOf, rowsAsked } from '../../operation/predicates.js';
import type { RoutePlan, RouteSpec } from '../../operation/route-spec.js';
import { DELETED, type Deleted } from '../../request/query/list-query.js';
import type { Predicate } from '../../request/query/predicate.js';
import { quote } from '../../request/query/query-string.js';
import { perPair } from '../../util/memo.js';
import { didYouMean } from '../../util/option-problems.js';
import { adviseUnique } from './unique-advice.js';

/** For models that are `paranoid`. */
export const softDelete: FeatureFactory = Object.assign(keepDeleted, {
  adviseOn: adviseUnique,
  routes: ({ endpoints }: RoutePlan) => [RESTORE, PURGE].filter(({ operation }) => endpoints.has(operation)),
});

function keepDeleted({ plan }: FeatureContext): Feature | null {
  const alive = rowsAsked(plan.info);
  if (alive === null) return null;
  const gone = rowsAsked(plan.info, 'only');
  const rows = (deleted?: Deleted) => (deleted === undefined ? alive : rowsAsked(plan.info, deleted));
  // Predicates of one row are the same object each time, so that the text of their statement is found again.
  const amongAlive = perPair((where: Predicate) => allOf(where, alive));
  const amongGone = <O extends { readonly where: Predicate }>(operation: O): O => ({
    ...operation,
    where: allOf(operation.where, gone),
  });
  return {
    inputs: mayBeSeen(plan) ? [INPUT] : [],
    digest: ({ deleted }) => deleted && ['deleted', deleted],
    prepare: {
      update: (operation) => ({ ...operation, where: amongAlive(operation.where) }),
      delete: (operation) => ({ ...operation, where: amongAlive(operation.where), mark: alive.attribute }),
      restore: (operation) => ({
        ...amongGone(operation),
        set: Object.freeze({ [alive.attribute]: null }),
        differs: true,
      }),
      purge: amongGone,
      replace: (operation) => ({ ...operation, where: amongAlive(operation.where) }),
    },
    rewrite: {
      list: (operation, { deleted }) => ({ ...operation, where: allOf(rows(deleted), operation.where) }),
      read: (operation, { deleted }) => ({
        ...operation,
        where: deleted === undefined ? amongAlive(operation.where) : allOf(operation.where, rows(deleted)),
      }),
    },
  };
}

const RESTORE: RouteSpec = {
  endpoint: 'restore',
  operation: 'restore',
  method: 'restore',
  verb: 'post',
  path: '/:id/restore',
  parameters: ['id', 'context'],
  words: {
    verb: 'Restore',
    success: 'The record, which is no longer deleted.',
    description: () =>
      'Brings a deleted record back. What belongs to it stays as it is. A record that is not deleted is a 409.',
  },
};

const PURGE: RouteSpec = {
  endpoint: 'purge',
  operation: 'purge',
  method: 'purge',
  verb: 'delete',
  path: '/:id/purge',
  parameters: ['id', 'context'],
  status: 204,
  words: {
    verb: 'Purge',
    success: 'The record is removed for good.',
    description: () => 'Removes a deleted record for good. A record that is not deleted is a 409.',
  },
};

function mayBeSeen({ access }: ResourcePlan): boolean {
  return (access?.can.get('deleted') ?? false) !== false;
}

/** Unknown wherever the rule does not say that soft-deleted records may be seen. */
const INPUT: Input = Object.freeze<Input>({
  in: 'query',
  name: 'deleted',
  endpoints: ['list', 'read'],
  rule: 'deleted',
  read(text, { issues }) {
    const found = DELETED.find((each) => each === text);
    if (!found) {
      issues.push({
        parameter: 'deleted',
        code: 'deleted.unknown',
        detail: `Parameter 'deleted' is ${quote(text)}; it accepts ${DELETED.join(', ')}.${didYouMean(text, DELETED)}`,
        allowed: DELETED,
      });
    }
    return found;
  },
  describe: () => ({
    description:
      'Deleted records: `only` these, or `with` the others. Relations have none of them. For requests that may see them; ' +
      'for others there is no such parameter. Default: none.',
    schema: { type: 'string', enum: DELETED },
  }),
});
