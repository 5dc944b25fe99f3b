/** Rows that are kept when they are deleted, and are missing from then on, unless a request includes them: `deleted`. */
import { isDeepStrictEqual } from 'node:util';
import type { OptionCheck } from '../../compile/compile-options.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { Endpoint } from '../../declare/crud-options.js';
import {
  type AttributeInfo,
  isFilled,
  type ModelInfo,
  type RecordInfo,
  type SoftDeletion,
} from '../../describe/model-info.js';
import { declaredMark } from '../../describe/soft-deletion.js';
import { ownMethods } from '../../execute/customization/query-customizations.js';
import { identifier, quotedTable } from '../../execute/sql/sql-fragment.js';
import { columnOf } from '../../execute/sql/table-indexes.js';
import { aliveSql, plainCondition } from '../../inspect/index-advice.js';
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
import { attributeRules } from '../../schema/column-rules.js';
import { perPair } from '../../util/memo.js';
import { didYouMean, showValue } from '../../util/option-problems.js';
import { deletedText, rowsAsked, writesGone } from './deletion.js';
import { checkEndpoints, PURGE, RESTORE } from './restore-and-purge.js';

/** The feature of models that are `paranoid`, or have `softDelete`. */
export const softDelete: FeatureFactory = Object.assign(keepDeleted, {
  check: checkEndpoints,
  resourceOptions: { softDelete: checkMark },
  adviseOn: adviseUnique,
  routes: ({ endpoints }: RoutePlan) => [RESTORE, PURGE].filter(({ operation }) => endpoints.has(operation)),
});

function keepDeleted({ plan }: FeatureContext): Feature | null {
  const { softDelete: kept } = plan.info;
  const alive = rowsAsked(plan.info);
  if (kept === null || alive === null) return null;
  const { attribute, values } = kept;
  const mark = Object.freeze({ attribute, value: deletedText(plan.info, kept) });
  const withMark = markOfNewRows(plan.info, kept);
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
    // A soft delete changes the row, and may not change the attribute of its tag.
    varies: ({ deleted }) => deleted !== undefined,
    digest: ({ deleted }) => deleted && ['deleted', deleted],
    prepare: {
      update: (operation) => ({ ...operation, where: amongAlive(operation.where) }),
      delete: (operation) => ({ ...operation, where: amongAlive(operation.where), mark }),
      restore: (operation) => ({
        ...amongGone(operation),
        set: Object.freeze({ [attribute]: values?.alive ?? null }),
        differs: true,
      }),
      purge: amongGone,
      replace: (operation) => ({ ...operation, where: amongAlive(operation.where) }),
    },
    rewrite: {
      ...(withMark ? { create: withMark, replace: withMark } : {}),
      list: (operation, { deleted }) => ({ ...operation, where: allOf(rows(deleted), operation.where) }),
      read: (operation, { deleted }) => ({
        ...operation,
        where: deleted === undefined ? amongAlive(operation.where) : allOf(operation.where, rows(deleted)),
      }),
    },
  };
}

/** Sets the mark of a new row to alive, where neither the model nor the table fills it in; null where the mark is a moment. */
function markOfNewRows({ attributes }: ModelInfo, { attribute: name, values }: SoftDeletion) {
  const attribute = attributes.get(name);
  if (!values || !attribute) return null;
  const { alive } = values;
  return <O extends { readonly row: Readonly<Record<string, unknown>> }>(operation: O): O =>
    operation.row[name] !== undefined || isFilled(attribute)
      ? operation
      : { ...operation, row: { ...operation.row, [name]: alive } };
}

/** Checks the values of the option, by the rules that bodies have for the attribute. The rest is checked where the model is described. */
function checkMark(value: unknown, { info, options, report }: OptionCheck): unknown {
  const { softDelete: kept, model } = info;
  if (!isDeepStrictEqual(value, declaredMark(model))) {
    report(
      'softDelete is given to a route, or is another one than that of the model; write it in @Crud above the class, so that relations ' +
        'and foreign keys that lead to it know it, too.',
    );
    return value;
  }
  for (const [name, each] of Object.entries(kept?.values ?? {})) {
    const attribute = info.attributes.get(kept?.attribute ?? '') as AttributeInfo;
    const broken = each === null ? undefined : attributeRules(attribute).find(({ check }) => !check(each));
    if (broken) report(`softDelete.${name} is ${showValue(each)}, and ${attribute.name} ${broken.text}.`);
  }
  const { write, create, update } = Object(Object(options.fields)[kept?.attribute ?? '']);
  if (write !== undefined || create !== undefined || update !== undefined)
    report(
      `softDelete writes '${kept?.attribute}', which no body may set, and fields has a rule for writing it; remove the rule.`,
    );
  const { methods, statics } = ownMethods(model);
  for (const each of ['destroy', 'restore'].filter((name) => methods.has(name) || statics.has(name)))
    report(
      `softDelete is set, and the model has ${each}() of its own, which is not called where ${kept?.attribute} marks the row; write what it ` +
        `does as a hook before${each === 'destroy' ? 'Destroy' : 'Restore'}, or leave softDelete out.`,
    );
  return value;
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

/** True where nothing, or something else than NULL, says that a row is not deleted. */
function hasUsualMoment({ model, softDelete }: ModelInfo): boolean {
  if (softDelete === null) return true;
  return (
    softDelete.values === null && model.getAttributes()[softDelete.attribute]?.defaultValue !== undefined
  );
}

/**
 * Advice about unique indexes that hold deleted rows, too: their values stay taken, and a restore may be a conflict. Each line has the
 * statements that put an index over the other rows in its place.
 */
function adviseUnique({ name, model, info }: ResourcePlan, indexes: readonly FoundIndex[]): string[] {
  const alive = aliveSql(info);
  if (alive === null || hasUsualMoment(info)) return [];
  const column = columnOf(info, info.softDelete?.attribute ?? '');
  const isOfOthers = leavesOutDeleted(info, column, alive);
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
    const others = `${predicate === null ? 'WHERE' : 'AND'} ${alive}`;
    return [
      `${name}: soft-deleted records keep their values in the unique index ${index}; BEGIN; ${drop}; ${create} ${others}; COMMIT;`,
    ];
  });
}

/** Tests that one of the conditions of an index leaves out the deleted rows. */
function leavesOutDeleted({ softDelete }: ModelInfo, column: string, alive: string) {
  const { deleted, alive: usual } = softDelete?.values ?? {};
  const others = [`${column} <> '${deleted}'`, `${column} = '${usual}'`];
  const ofBooleans =
    deleted === true ? [`NOT ${column}`, `${column} IS NOT TRUE`] : [column, `${column} IS NOT FALSE`];
  const forms = softDelete?.values
    ? [alive, ...others, ...(typeof deleted === 'boolean' ? ofBooleans : [])]
    : [alive];
  const known = new Set(forms.map(plainCondition));
  return (predicate: string | null) =>
    predicate?.split(' AND ').some((each) => known.has(plainCondition(each))) === true;
}
