/** Writes many records with one statement of ours, where no code of the user's has to see each. */

import type { Endpoint } from '../../declare/endpoint.js';
import { rivalAttributes } from '../../describe/foreign-keys.js';
import { ManyRows, type MatchingWritten } from '../../execute/rows/many-rows.js';
import { orderTest, referred, slotsOf } from '../../execute/rows/many-writes.js';
import type { FoundRows } from '../../execute/rows/sql-executor.js';
import type { Resource } from '../../express/resources/resource.js';
import { rowsShown, type ShownRecords } from '../../handle/outcome.js';
import { inTransaction, rowsWritten } from '../../handle/run-rows.js';
import { type Access, accessWith } from '../../operation/access.js';
import { compileAlso } from '../../operation/compile-operation.js';
import type {
  DeleteOperation,
  InsertOperation,
  Selection,
  UpdateItem,
  UpdateOperation,
} from '../../operation/operation.js';
import { allOf, withoutId } from '../../operation/predicates.js';
import type { StatementTarget, TextRow } from '../../postgres/index.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Predicate } from '../../request/query/predicate.js';
import { without } from '../../util/without.js';
import type { BulkArguments } from './parse-bulk.js';

/** Rows that one statement has written. */
export interface ManyWritten {
  /** Records in the order of the body; null where `q` has found the rows. */
  readonly shown: ShownRecords | null;
  /** Attributes of these records. */
  readonly columns: readonly string[];
  readonly count: number;
  /** True for each record that is new; left out where all are, or none. */
  readonly created?: readonly boolean[] | undefined;
}

/** Locks of a transaction that writes several kinds of rows. It undoes everything where a runner returns null. */
export interface RowLocks {
  /** True where it has locked the rows of the items, so that any order of writes is right. Default: false. */
  readonly areHeld?: boolean;
  /** Rows that a delete by filter locks with its own, all in the order of their keys. Default: its own. */
  readonly among?: Predicate | null;
}

/**
 * Writes all records of a request, or nothing. Null where nothing is written: it cannot be one statement, or a record is refused,
 * which is named by writing one after the other.
 */
export type ManyRunner = (
  input: BulkArguments,
  limit: number,
  on?: StatementTarget,
  locks?: RowLocks,
) => Promise<ManyWritten | null>;

const NONE: readonly string[] = Object.freeze([]);
const NO_LOCKS: RowLocks = Object.freeze({});

/**
 * Compiles the runner of an endpoint for many records, by that for one.
 *
 * @param shown the attributes of the records of the result, beside those that features need; null is all that answers have. Where there
 *   are none, records are only counted
 * @param isSwapped true where changes may take values from each other: the database refuses them where it compares too early. Default:
 *   such changes are made in turn
 */
export function compileManyRunner(
  resource: Resource,
  single: Endpoint,
  shown: readonly string[] | null = null,
  isSwapped = false,
): ManyRunner {
  const { plan, features } = resource;
  const { info, entityTag } = plan;
  const { operation, afterWrite } = features[single];
  const also = compileAlso();
  const chosen: Selection | null = shown && Object.freeze({ columns: Object.freeze([...shown]) });
  const selected = ({ returning }: InsertOperation | UpdateOperation) =>
    chosen && afterWrite === null ? chosen : also(returning, shown ?? []);
  const many = new ManyRows(info);
  const virtuals = [...info.attributes.values()].filter(({ type }) => type.kind === 'virtual');
  const { ownReferences } = rivalAttributes(info);
  const isOrdered = orderTest(info);
  const isVirtual = ({ values }: RequestArguments) =>
    virtuals.some(({ name }) => values?.[name] !== undefined);
  const show = async (
    written: FoundRows | null,
    columns: readonly string[],
    count: number,
    on?: StatementTarget,
  ): Promise<ManyWritten | null> => {
    if (!written) return null;
    const { rows, parsers } = written;
    if (rows.length !== count && columns.length > 0)
      throw new TypeError(`A statement has given ${rows.length} rows of ${count}.`);
    if (afterWrite)
      await afterWrite({ endpoint: single, records: rowsWritten(info, columns, rows) }, inTransaction(on));
    return {
      shown: rowsShown(resource, info, columns, { rows: rows as readonly TextRow[], parsers }),
      columns,
      count,
    };
  };
  const insert = async (inputs: readonly RequestArguments[], access: Access, on?: StatementTarget) => {
    // The values that a request presets in a row do not depend on the values of the row.
    const one = operation(features[single].absentFor(access.form), access) as InsertOperation;
    // A parser has added those of `set`, which a nested child has of its parent.
    const { given } = access.form;
    const preset = given.size === 0 ? one.row : without(one.row, [...given]);
    const isPreset = Object.keys(preset).length > 0;
    const returning = selected(one);
    const rows = inputs.map(({ values = {} }) => (isPreset ? Object.assign({}, values, preset) : values));
    const accesses = inputs.map((each) => each.access);
    const written = await many.insert({ rows, ...referred(accesses), returning }, slotsOf(accesses), on);
    return show(written, returning.columns, rows.length, on);
  };
  const update = async (
    inputs: readonly RequestArguments[],
    access: Access,
    areLocked: boolean,
    on?: StatementTarget,
  ) => {
    const items = inputs.map(({ id, values = {}, query }): UpdateItem => {
      const [state] = query.ifMatch ?? [];
      const isTouched = query.touch === 'change';
      return {
        key: id,
        values,
        ...(state === undefined ? {} : { state }),
        ...(isTouched ? { isTouched } : {}),
      };
    });
    const one = operation(features[single].absentFor(access.form), access) as UpdateOperation;
    const returning = selected(one);
    const state = items.some((item) => item.state !== undefined) ? (entityTag?.attribute ?? null) : null;
    const where = withoutId(one.where, info.address);
    const { unreadable: unseen } = access.form;
    const accesses = inputs.map((each) => each.access);
    const change = { where, items, state, ...referred(accesses), areLocked, returning, unseen };
    const written = await many.update(change, slotsOf(accesses), on);
    return show(written, returning.columns, items.length, on);
  };
  const writeMatching = async (
    each: RequestArguments,
    filter: Predicate,
    maximum: number,
    locked: Predicate | null,
    on?: StatementTarget,
  ): Promise<MatchingWritten | null> => {
    const { query, access, values = {} } = each;
    // All rows that are found count, also those that may not be written.
    const seen = access.allowed ? accessWith(access, { allowed: null }) : access;
    const one = operation(query, seen, values) as UpdateOperation | DeleteOperation;
    const where = allOf(withoutId(one.where, info.address), filter);
    const rows = { where, allowed: access.allowed, maximum };
    if (one.kind === 'delete')
      return many.deleteMatching({ ...rows, locked, mark: one.mark }, access.slots, on);
    const { set, unseen } = one;
    return many.updateMatching({ ...rows, set, unseen, ...referred([access]) }, access.slots, on);
  };
  return async ({ items, each, inputs, access }, limit, on, { areHeld = false, among = null } = NO_LOCKS) => {
    if (items) {
      const wanted: RequestArguments[] = [];
      for (const { input } of items) if (input) wanted.push(input);
      if (wanted.length < items.length || (virtuals.length > 0 && wanted.some(isVirtual))) return null;
      const values = wanted.map((input) => input.values ?? {});
      if (isOrdered(values, single === 'update' && !isSwapped ? values : [])) return null;
      return single === 'create' ? insert(wanted, access, on) : update(wanted, access, areHeld, on);
    }
    // The statement returns no rows for `afterWrite`.
    if (afterWrite) return null;
    const isTree = single === 'delete' && ownReferences.size > 0;
    if (!each || !inputs.filter || isTree || isVirtual(each) || isOrdered([each.values ?? {}], []))
      return null;
    const written = await writeMatching(each, inputs.filter, limit, among, on);
    return !written || written.isExceeded || !written.isAllowed
      ? null
      : { shown: null, columns: NONE, count: among ? written.written : written.found };
  };
}
