/** Parents as they are once their children are written: hooks of these, and triggers of their tables, may have changed them. */
import { accessSource } from '../../access/reference-access.js';
import { baseOf, type Endpoint } from '../../declare/endpoint.js';
import { keyNames } from '../../describe/row-key.js';
import { runsCodeInWrites } from '../../execute/customization/plain-queries.js';
import type { Id } from '../../execute/records/repository-operations.js';
import { modelTriggers, type WriteOptions } from '../../execute/records/update-record.js';
import { SqlExecutor } from '../../execute/rows/sql-executor.js';
import { NO_SLOTS } from '../../execute/sql/statement.js';
import { isOverridden } from '../../express/resources/crud-controller.js';
import type { Resource } from '../../express/resources/resource.js';
import type { CompletionPlace, Outcome, ShownRecords } from '../../handle/outcome.js';
import { outcomeOf } from '../../handle/run-method.js';
import { outcomeOfRows } from '../../handle/run-rows.js';
import type { InsertOperation } from '../../operation/operation.js';
import { withKeys } from '../../operation/predicates.js';
import type { TextRow } from '../../postgres/index.js';
import type { RequestArguments } from '../../request/parse-request.js';
import { lazy } from '../../util/memo.js';
import type { LevelWork } from './nested-parents.js';

/** True where a write of children, or of theirs, may change other rows: by code of the user's, or by a trigger. */
export async function mayChangeOthers(works: Iterable<LevelWork>, options: WriteOptions): Promise<boolean> {
  for (const { resource, nested } of works) {
    const { model } = resource.plan;
    if (runsCodeInWrites(model)) return true;
    const { haveTriggers, isPlain } = await modelTriggers(model, options);
    if (haveTriggers || !isPlain || (await mayChangeOthers(nested.values(), options))) return true;
  }
  return false;
}

/** Reads written records again; null where they are as a method of the user's returned them, or a row is not found any more. */
type ReadAgain = (
  shown: ShownRecords,
  input: RequestArguments,
  place: CompletionPlace,
) => Promise<Outcome | null>;

/** Compiles it. @param endpoint that has written them */
export function compileReadAgain(resource: Resource, endpoint: Endpoint): ReadAgain {
  const { plan, features, controller, repository } = resource;
  const { info, model } = plan;
  const names = keyNames(info.address);
  const executor = lazy(() => new SqlExecutor(info));
  const order = names.map((attribute) => ({ attribute, descending: false }));
  const readRows: ReadAgain = async (shown, { query, access, values }, { on }) => {
    const { returning } = features[endpoint].operation(query, access, values) as InsertOperation;
    const parts = names.map((name) => shown.column(name));
    const keys = shown.rows.map((_, index) => parts.map((column) => column[index] as string));
    const where = withKeys(info.address, keys);
    const window = { kind: 'offset', page: 1, size: keys.length } as const;
    const read = { kind: 'list', where, select: returning, order, window, count: 'none' } as const;
    const found = await executor().run(read, NO_SLOTS, on);
    const places = names.map((name) => returning.columns.indexOf(name));
    const byKey = new Map(found.rows.map((row) => [JSON.stringify(places.map((part) => row[part])), row]));
    const rows = keys.map((key) => byKey.get(JSON.stringify(key)));
    if (rows.includes(undefined)) return null;
    return outcomeOfRows(resource, returning.columns, { ...found, rows: rows as TextRow[] }, query, null);
  };
  const readRecord = async (id: unknown, { request }: CompletionPlace): Promise<Outcome | null> => {
    const source = accessSource(request, model, plan.access && resource.access);
    const record = await (source ? repository.within(source) : repository).findLocked(id as Id);
    return record && outcomeOf(resource, endpoint, record);
  };
  return async (shown, input, place) => {
    if (shown.rows.length === shown.size) return readRows(shown, input, place);
    if (isOverridden(controller, baseOf(endpoint))) return null;
    const { key } = shown as Partial<Outcome>;
    return key ? readRecord(key(), place) : null;
  };
}
