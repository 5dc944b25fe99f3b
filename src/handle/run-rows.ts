/** Runs an operation with our SQL: rows of texts, which are written into JSON as they are. */

import type { Request } from 'express';
import type { Sequelize } from 'sequelize';
import { type RowSecurity, requestSettings } from '../access/row-security.js';
import { baseOf, type Endpoint, tableWritesOf } from '../declare/endpoint.js';
import type { ModelInfo } from '../describe/model-info.js';
import { keyText, valuesOfId } from '../describe/row-key.js';
import { severalRecords } from '../errors/errors.js';
import { openTest } from '../execute/customization/plain-queries.js';
import { whyUnwritten } from '../execute/executor.js';
import { type FoundRows, type ReplacedRows, SqlExecutor } from '../execute/rows/sql-executor.js';
import { idTextOf, keySlots } from '../execute/sql/encode-parameter.js';
import { joinSlots, NO_SLOTS, type Slots, type Statement } from '../execute/sql/statement.js';
import type { Resource } from '../express/resources/resource.js';
import { WANTED_STATE } from '../features/entity-tag.js';
import { rowsAsked, writesGone } from '../features/soft-delete/deletion.js';
import type { Access } from '../operation/access.js';
import { columnsGiven } from '../operation/compile-operation.js';
import type { Inputs, WantedStates, WrittenRecord } from '../operation/feature.js';
import { allOf, byKey, idSlot } from '../operation/predicates.js';
import type { RouteSpec } from '../operation/route-spec.js';
import {
  currentSession,
  currentTarget,
  type StatementTarget,
  statementRunner,
  type TextRow,
} from '../postgres/index.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { Predicate } from '../request/query/predicate.js';
import type { Maybe } from '../util/promises.js';
import { type Outcome, rowsShown } from './outcome.js';

/** Runs one operation of a resource. */
export interface RowRunner<I extends RequestArguments = RequestArguments> {
  /** True where it may run now: hooks and a scope can be added at any time, and would not see our SQL. */
  isOpen(): boolean;
  /**
   * True where the table may leave out the row of a write, which has to run in a session then. Absent for reads. The
   * caller holds no connection.
   */
  mayDrop?(on?: StatementTarget): Maybe<boolean>;
  /** True where features have work after the write, in its transaction. */
  readonly isFollowed?: boolean;
  /**
   * Null when only Sequelize can, and then nothing has happened yet.
   *
   * @param on default: any connection of the pool. A write that is followed needs that of a transaction.
   */
  run(input: I, on?: StatementTarget): Promise<Outcome | null>;
  /**
   * Runs a write of one row by a statement that a feature has a part in. Null when that cannot be, or no row was written; nothing
   * has happened then. Left out where there are no such writes.
   */
  runExtended?(input: I, extend: ExtendWrite, on?: StatementTarget): Promise<Outcome | null>;
}

/** Adds a feature's part to the statement of a write. @param columns that it returns; null for a delete */
export type ExtendWrite = (write: Statement, columns: readonly string[] | null) => Statement;

/** Finds where statements of a request run that are in no session: any connection of the pool, with the settings of the request. */
type AloneTarget = (request: Request) => StatementTarget;

interface RowSecured {
  /** Null where the application has none. */
  readonly rls: RowSecurity | null;
}

/** The target of a route whose statements Sequelize executes. Internals that another one needs may be missing. */
const NOWHERE: StatementTarget = {
  read: () => Promise.reject(new TypeError('Our SQL executes nothing here.')),
  write: () => NOWHERE.read('', [], ''),
};

/**
 * Compiles it. Requests of an application without row security have no settings.
 *
 * @param isUsed false where Sequelize executes all statements of the route
 */
export function compileAloneTarget(sequelize: Sequelize, { rls }: RowSecured, isUsed: boolean): AloneTarget {
  if (!isUsed) return () => NOWHERE;
  if (rls === null) return () => statementRunner(sequelize);
  return (request) => currentTarget(sequelize, requestSettings(request));
}

/** Where statements run that join the session of the running code; undefined is any connection of the pool. */
export async function sessionTarget(
  sequelize: Sequelize | undefined,
  verb: RouteSpec['verb'],
): Promise<StatementTarget | undefined> {
  const session = currentSession(sequelize);
  const transaction = await session?.transactionFor(verb === 'get' ? 'select' : 'other');
  return session && transaction ? statementRunner(session.sequelize).within(transaction) : undefined;
}

/** The transaction of a write that is followed. */
export function inTransaction(on: StatementTarget | undefined): StatementTarget {
  if (on) return on;
  throw new TypeError('A write that features follow has no transaction.');
}

function writtenAs(endpoint: Endpoint, found: FoundRows | ReplacedRows): Endpoint {
  if (baseOf(endpoint) !== 'replace') return endpoint;
  return 'isNew' in found && found.isNew ? 'create' : 'update';
}

/**
 * Records of rows that a statement has written.
 *
 * @param keys for rows that have no columns
 */
export function rowsWritten(
  { primaryKey }: ModelInfo,
  columns: readonly string[],
  rows: readonly TextRow[],
  keys: readonly (string | null | undefined)[] = [],
): readonly WrittenRecord[] {
  const valueIn = (row: TextRow | undefined, attribute: string) => {
    const position = columns.indexOf(attribute);
    return position < 0 ? undefined : (row?.[position] ?? null);
  };
  const keyIn = (row: TextRow | undefined) => idTextOf(primaryKey, ({ name }) => valueIn(row, name));
  const count = Math.max(rows.length, keys.length);
  return Array.from({ length: count }, (_, index) => ({
    key: keyIn(rows[index]) ?? (keys[index] as string),
    stored: (attribute) => valueIn(rows[index], attribute),
  }));
}

/** Writes whose answer follows from their row alone. */
const EXTENDED: readonly Endpoint[] = ['create', 'update', 'delete'];

/** Outcome of an operation, from the rows of its statement. */
export function outcomeOfRows(
  view: Pick<Resource, 'plan' | 'rowView'>,
  columns: readonly string[],
  { rows, parsers, count }: FoundRows,
  { fields }: Inputs,
  page: Outcome['page'],
): Outcome {
  const shown = rowsShown(view, view.plan.info, columns, { rows, parsers });
  return {
    page,
    count,
    key: () => (rows[0] ? view.rowView.key(rows[0], parsers, fields) : undefined),
    stored: (attribute) => shown.column(attribute)[0],
    ...shown,
  };
}

/** Compiles the runners of a resource's operations. */
export function compileRowRunners(resource: Resource): (endpoint: Endpoint) => RowRunner {
  const { plan, features } = resource;
  const { info, entityTag } = plan;
  const executor = new SqlExecutor(info);
  const names = info.address.map(({ name }) => name);
  const gone = info.softDelete && rowsAsked(info, 'only');
  const asks = entityTag ? [entityTag.attribute] : [];
  /** The error of an operation that has found no row. */
  const explain = async (
    endpoint: Endpoint,
    { ifMatch, onlyNew }: Inputs,
    { where, allowed, form }: Access,
    slots: Slots,
    on?: StatementTarget,
  ) => {
    const write = { info, endpoint, entityTag, ifMatch, onlyNew, form };
    if (!writesGone(endpoint) && baseOf(endpoint) !== 'replace' && !ifMatch && !allowed)
      return whyUnwritten(write, null);
    const select = { columns: [...names, ...asks] };
    const row = allOf(byKey(info.address), where);
    const read = (rows: Predicate) =>
      executor.run({ kind: 'read', where: rows, select, isFresh: true }, slots, on);
    const [values] = (await read(row)).rows;
    const ruled = allowed && values ? { isAllowed: (await read(allOf(row, allowed))).count > 0 } : null;
    const textOf = (attribute: string) => values?.[select.columns.indexOf(attribute)] ?? null;
    const isDeleted = gone !== null && values !== undefined && (await read(allOf(row, gone))).count > 0;
    const state = entityTag && textOf(entityTag.attribute);
    return whyUnwritten(write, values ? { isDeleted, state, ...ruled } : null);
  };
  const slotsOf = (id: unknown, states: WantedStates | undefined): Slots => {
    const slots = keySlots(info.address, id) ?? NO_SLOTS;
    const [state] = states ?? [];
    return state === undefined ? slots : { ...slots, [WANTED_STATE.slot]: state };
  };
  const shownBy = { plan, rowView: resource.rowView };
  const virtuals = [...info.attributes.values()].filter(({ type }) => type.kind === 'virtual');
  return (endpoint) => {
    const { operation, afterWrite } = features[endpoint];
    // The row has the key that its request names.
    const isKeyed = baseOf(endpoint) === 'replace';
    const ask = ({ query, access, id, values }: RequestArguments) => {
      // No column takes its value, and a record would hold it.
      if (values && virtuals.some((virtual) => values[virtual.name] !== undefined)) return null;
      const slots = id === undefined ? access.slots : joinSlots(slotsOf(id, query.ifMatch), access.slots);
      const written = isKeyed ? { ...values, ...valuesOfId(info.address, id) } : values;
      return { asked: operation(query, access, written), slots };
    };
    const writes = tableWritesOf(endpoint, gone !== null);
    return {
      isFollowed: afterWrite !== null,
      isOpen: openTest(info, endpoint, resource.rowView.isOfRecords),
      ...(writes.length > 0 ? { mayDrop: (on?: StatementTarget) => executor.mayDrop(writes, on, true) } : {}),
      async run(input, on) {
        const request = ask(input);
        if (!request) return null;
        const { asked, slots } = request;
        const found = await executor.run(asked, slots, on);
        if (found === null) return null;
        const { query, access } = input;
        if (endpoint !== 'list' && found.count === 0) throw await explain(endpoint, query, access, slots, on);
        if (endpoint === 'read' && found.count > 1)
          throw severalRecords({ name: info.name, key: keyText(info.address) });
        const page = 'page' in found ? found.page : null;
        const columns = columnsGiven(asked);
        if (afterWrite) {
          const records = rowsWritten(info, columns, found.rows, [
            idTextOf(info.address, ({ name }) => slots[idSlot(info.address, name).slot]),
          ]);
          await afterWrite({ endpoint: writtenAs(endpoint, found), records }, inTransaction(on));
        }
        const outcome = outcomeOfRows(shownBy, columns, found, query, page);
        return 'isNew' in found ? { ...outcome, isNew: found.isNew === true } : outcome;
      },
      async runExtended(input, extend, on) {
        if (!EXTENDED.includes(baseOf(endpoint))) return null;
        const request = ask(input);
        if (!request) return null;
        const { asked, slots } = request;
        if (asked.kind === 'read' || asked.kind === 'list' || asked.kind === 'replace') return null;
        const columns = columnsGiven(asked);
        const given = asked.kind === 'delete' ? null : columns;
        const found = await executor.runExtended(asked, slots, (write) => extend(write, given), on);
        return found && outcomeOfRows(shownBy, columns, found, input.query, null);
      },
    };
  };
}
