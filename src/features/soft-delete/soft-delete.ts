/** Rows that are kept when they are deleted, and are missing from then on, unless a request includes them: `deleted`. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { Endpoint } from '../../declare/crud-options.js';
import { deletedAtOf, type ModelInfo, type RecordInfo } from '../../describe/model-info.js';
import { identifier, quotedTable } from '../../execute/sql/sql-fragment.js';
import { columnOf } from '../../execute/sql/table-indexes.js';
import type {
  Feature,
  FeatureContext,
  FeatureFactory,
  FoundIndex,
  Input,
  Inputs,
} from '../../operation/feature.js';
import { allOf } from '../../operation/predicates.js';
import type { RoutePlan } from '../../operation/route-spec.js';
import { DELETED, type Deleted } from '../../request/query/list-query.js';
import type { Predicate } from '../../request/query/predicate.js';
import { quote } from '../../request/query/query-string.js';
import { perPair } from '../../util/memo.js';
import { didYouMean } from '../../util/option-problems.js';
import { rowsAsked, writesGone } from './deletion.js';
import { checkEndpoints, PURGE, RESTORE } from './restore-and-purge.js';

/** For models that are `paranoid`. */
export const softDelete: FeatureFactory = Object.assign(keepDeleted, {
  check: checkEndpoints,
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
    // A soft delete changes the row, and may not change what identifies its states.
    varies: ({ deleted }) => deleted !== undefined,
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

function mayBeSeen({ access }: ResourcePlan): boolean {
  return (access?.can.get('deleted') ?? false) !== false;
}

/** Checks an operation of a repository. @throws TypeError where it is about deleted rows of a model that has none */
export function checkSoftDeletion(info: RecordInfo, endpoint: Endpoint, { deleted }: Inputs): void {
  if (writesGone(endpoint) || deleted !== undefined) rowsAsked(info, deleted ?? 'only');
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

/** The column of the mark; undefined where nothing, or something else than NULL, says that a row is not deleted. */
function deletionColumn(info: ModelInfo): string | undefined {
  const mark = deletedAtOf(info);
  if (mark === undefined || info.model.getAttributes()[mark]?.defaultValue !== undefined) return undefined;
  return columnOf(info, mark);
}

/**
 * Advice about unique indexes that hold deleted rows, too: their values stay taken, and a restore may be a conflict. Each line has the
 * statements that put an index over the other rows in its place.
 */
function adviseUnique({ name, model, info }: ResourcePlan, indexes: readonly FoundIndex[]): string[] {
  const column = deletionColumn(info);
  if (column === undefined) return [];
  const isOfOthers = (predicate: string | null) =>
    [column, identifier(column)].some((each) => predicate?.includes(`(${each} IS NULL)`));
  // An index over an address has to be over all rows.
  const addresses = [...info.attributes.values()].flatMap(({ isAddress, column: own }) =>
    isAddress ? [own, identifier(own)] : [],
  );
  return indexes.flatMap(({ name: index, predicate, unique }) => {
    if (addresses.includes(unique?.keys.join() ?? '')) return [];
    if (!unique?.canBePartial || unique.keys.some((key) => key.includes(column)) || isOfOthers(predicate))
      return [];
    const drop =
      unique.constraint === null
        ? `DROP INDEX ${index}`
        : `ALTER TABLE ${quotedTable(model)} DROP CONSTRAINT ${unique.constraint}`;
    const create = unique.definition.replace(' ON ONLY ', ' ON ');
    const others = `${predicate === null ? 'WHERE' : 'AND'} ${identifier(column)} IS NULL`;
    return [
      `${name}: soft-deleted records keep their values in the unique index ${index}; BEGIN; ${drop}; ${create} ${others}; COMMIT;`,
    ];
  });
}
