/** Upserts of many records with one statement of ours. */
import type { ModelInfo } from '../../describe/model-info.js';
import { ManyRows } from '../../execute/rows/many-rows.js';
import { COUNTED, orderTest, referred, slotsOf } from '../../execute/rows/many-writes.js';
import type { Resource } from '../../express/resources/resource.js';
import { rowsShown } from '../../handle/outcome.js';
import { inTransaction, rowsWritten } from '../../handle/run-rows.js';
import type { ReplaceOperation } from '../../operation/operation.js';
import { withoutId } from '../../operation/predicates.js';
import type { ManyRunner } from '../bulk/write-together.js';
import { compileSplit } from './run-upsert.js';
import { type UpsertInputs, upsertKeys } from './upsert-options.js';

/**
 * Compiles the runner. It returns null for records that have to be written in turn: those that need a row with the same values, and those
 * whose values could take the places of each other. Null is also for a key whose row the request does not see, or may not change.
 *
 * @param isShown false where the records of the result are only counted
 */
export function compileUpsertTogether(resource: Resource, isShown = true): ManyRunner {
  const { plan, features } = resource;
  const { operation, afterWrite } = features.upsert;
  const split = compileSplit(plan);
  const many = new Map(upsertKeys(plan).map((info) => [info, new ManyRows(info)]));
  const isOrdered = orderTest(plan.info);
  const virtuals = [...plan.info.attributes.values()].filter(({ type }) => type.kind === 'virtual');
  return async ({ items }, _limit, on) => {
    const inputs = (items ?? []).flatMap(({ input }) => input ?? []);
    const [first] = inputs;
    if (!first || inputs.length !== items?.length) return null;
    const info = (first.query as UpsertInputs).onConflict as ModelInfo;
    const rows = inputs.map(({ values = {} }) => values);
    const parts = inputs.map(({ query, access }, index) =>
      split(rows[index] ?? {}, query as UpsertInputs, access),
    );
    if (parts.some(({ same }) => same.length > 0)) return null;
    if (rows.some((values) => virtuals.some(({ name }) => values[name] !== undefined))) return null;
    const changed = parts.map(({ changes }) => changes);
    if (isOrdered(rows, changed, info.address)) return null;
    const accesses = inputs.map(({ access }) => access);
    const each = inputs.map(
      (input) => operation(input.query, input.access, input.values) as ReplaceOperation,
    );
    const { where, unseen, returning: whole } = each[0] as ReplaceOperation;
    const returning = isShown || afterWrite ? whole : COUNTED;
    const written = await many.get(info)?.upsert(
      {
        rows: each.map(({ row }) => row),
        items: each.map(({ set }, index) => ({ key: inputs[index]?.id, values: set })),
        where: withoutId(where, info.address),
        ...referred(accesses),
        returning,
        unseen,
      },
      slotsOf(accesses),
      on,
    );
    if (!written) return null;
    const { parsers } = written;
    const { columns } = returning;
    const created = written.rows.map((row) => row.at(-1) === 't');
    for (const isNew of [true, false]) {
      const some = written.rows.filter((_, index) => created[index] === isNew);
      if (afterWrite && some.length > 0)
        await afterWrite(
          { endpoint: isNew ? 'create' : 'update', records: rowsWritten(plan.info, columns, some) },
          inTransaction(on),
        );
    }
    const shown = rowsShown(resource, plan.info, columns, { rows: written.rows, parsers });
    return { shown, columns, count: rows.length, created };
  };
}
