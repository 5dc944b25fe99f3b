/** The fast path of one generated route: rows of texts, written into JSON as they are. */
import type { Request, Response } from 'express';
import type { Endpoint } from '../../metadata/crud-options.js';
import { deletedAtOf } from '../../model/attribute-notes.js';
import type { AttributeInfo } from '../../model/model-info.js';
import type {
  DeleteOperation,
  ListOperation,
  Predicate,
  ReadOperation,
  Selection,
  UpdateOperation,
} from '../../operation/operation.js';
import { aliveRows, allOf, equalTo } from '../../operation/predicates.js';
import { hasScope } from '../../persistence/customization/default-scope.js';
import { hydrator, storedAttributes } from '../../persistence/customization/hydrate-record.js';
import { needsRecords } from '../../persistence/customization/model-fast-path-blockers.js';
import { hasQueryHooks } from '../../persistence/customization/model-hooks.js';
import { noSuchRecord } from '../../persistence/errors/errors.js';
import { type FoundRows, RowExecutor, type RowPage } from '../../persistence/rows/row-executor.js';
import { currentSession } from '../../persistence/session/session.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import type { Slots } from '../../persistence/sql/statement.js';
import type { Keyset } from '../../query/keyset.js';
import type { ListQuery } from '../../query/list-query.js';
import { cursorEnvelope, envelopeJson, offsetEnvelope } from '../../response/envelope.js';
import { compileRowWriters, type RowWriters, selectedOf } from '../../response/row-writer.js';
import { readableAttributes } from '../../schema/derive-read-class.js';
import { locationOf } from '../answer/answer.js';
import { EmptyAnswer, JsonAnswer, writesPlainJson } from '../answer/json-answer.js';
import type { RequestArguments } from '../request/parse-request.js';
import { existingSessions } from '../request/request-sessions.js';
import type { Resource } from '../resources/resource.js';

/** An answer that writes itself. */
export type FastAnswer = JsonAnswer | EmptyAnswer;

/** The fast path of a route. */
export interface FastAction {
  /** Whether nothing of the user's would see a difference for this request: no hook, scope, unit of work or patched response. */
  isOpen(request: Request, response: Response): boolean;
  /** Answers; null when only Sequelize can, and then nothing has happened yet. */
  answer(args: RequestArguments, request: Request): Promise<FastAnswer | null>;
}

/** Compiles the fast paths of the operations that have one. */
export function compileFastActions(
  resource: Resource,
  operations: readonly Endpoint[],
): ReadonlyMap<Endpoint, FastAction> {
  if (operations.length === 0) return new Map();
  const { info, model } = resource.plan;
  const rows = describeRows(resource);
  const executor = new RowExecutor(info);
  const isOpen = (kind: 'read' | 'write') => (request: Request, response: Response) =>
    !hasQueryHooks(model, kind) &&
    !hasScope(model) &&
    currentSession(model.sequelize) === undefined &&
    existingSessions(request) === undefined &&
    writesPlainJson(response);
  return new Map(
    operations.map((operation) => {
      const kind = operation === 'list' || operation === 'read' ? 'read' : 'write';
      const answer = operationAnswer(rows, executor, operation);
      return [operation, Object.freeze({ isOpen: isOpen(kind), answer })];
    }),
  );
}

/** Rows are written as they come, unless a getter or a virtual attribute has to see a record. */
function describeRows(resource: Resource): RowsJson {
  const { info, exposure } = resource.plan;
  const readable = readableAttributes(info, exposure);
  if (!needsRecords(info, readable)) {
    const whole = Object.freeze(selectionOf(readable));
    const select = (fields: readonly string[] | null) =>
      fields ? selectionOf(selectedOf(readable, fields)) : whole;
    return { resource, attributes: readable, select, writers: compileRowWriters(readable) };
  }
  const attributes = storedAttributes(info);
  const whole = Object.freeze(selectionOf(attributes));
  const writers: RowWriters = (parsers, fields) => {
    const record = hydrator(info, attributes, parsers);
    return (row) => JSON.stringify(resource.serialize(record(row), fields));
  };
  return { resource, attributes, select: () => whole, writers };
}

function selectionOf(attributes: readonly AttributeInfo[]): Selection {
  return { columns: attributes.map(({ name }) => name) };
}

function operationAnswer(rows: RowsJson, executor: RowExecutor, operation: Endpoint): FastAction['answer'] {
  const { resource, attributes, select } = rows;
  const { info } = resource.plan;
  const { primaryKey } = info;
  const slotsOf = (id: unknown): Slots => ({ id: encodeParameter(primaryKey.type, id) as string });
  const alive = aliveRows(info);
  const where = allOf(equalTo(primaryKey.name, { slot: 'id' }), alive);
  const keyAt = attributes.indexOf(primaryKey);
  switch (operation) {
    case 'list':
      return async ({ query }) => new JsonAnswer(await listJson(rows, executor, query as ListQuery, alive));
    case 'read': {
      const whole: ReadOperation = Object.freeze({ kind: 'read', where, select: select(null) });
      return async ({ id, fields = null }) => {
        const read = fields ? { ...whole, select: select(fields) } : whole;
        return new JsonAnswer(recordJson(rows, await executor.run(read, slotsOf(id)), fields));
      };
    }
    case 'create':
      return async ({ values = {} }, request) => {
        const created = await executor.run({ kind: 'insert', rows: [values], returning: select(null) });
        if (created === null) return null;
        const location = locationOf(request, resource.plan, created.rows[0]?.[keyAt]);
        return new JsonAnswer(recordJson(rows, created), location);
      };
    case 'update':
      return async ({ id, values = {} }) => {
        const update: UpdateOperation = { kind: 'update', where, set: values, returning: select(null) };
        const updated = await executor.run(update, slotsOf(id));
        return updated && new JsonAnswer(recordJson(rows, updated));
      };
    case 'delete': {
      const mark = deletedAtOf(info) ?? null;
      const whole: DeleteOperation = Object.freeze({ kind: 'delete', where, mark });
      return async ({ id }) => {
        const { count } = await executor.run(whole, slotsOf(id));
        if (count === 0) throw missing(resource);
        return new EmptyAnswer();
      };
    }
  }
}

/** How the rows of a resource are written. */
interface RowsJson {
  readonly resource: Resource;
  /** What rows are read with, in order. */
  readonly attributes: readonly AttributeInfo[];
  /** Of all properties, or of some. */
  readonly select: (fields: readonly string[] | null) => Selection;
  readonly writers: RowWriters;
}

function recordJson(
  { resource, writers }: RowsJson,
  { rows, parsers }: FoundRows,
  fields?: readonly string[] | null,
): string {
  const [row] = rows;
  if (row === undefined) throw missing(resource);
  return writers(parsers, fields)(row);
}

async function listJson(
  { resource: { plan, cursors }, select, writers }: RowsJson,
  executor: RowExecutor,
  query: ListQuery,
  alive: Predicate | null,
): Promise<string> {
  const { kind, page, size, after, before, filter, sort, fields } = query;
  const isOffset = kind === 'offset';
  const list: ListOperation = {
    kind: 'list',
    where: allOf(alive, filter),
    select: select(fields),
    order: sort,
    window: isOffset ? { kind, page, size } : { kind: 'keyset', after, before, size },
    count: isOffset ? 'exact' : 'none',
  };
  const { rows, parsers, total = 0, next = null, prev = null }: RowPage = await executor.run(list);
  // Where there are no rows, nobody has said how to read one.
  const items = rows.length === 0 ? [] : rows.map(writers(parsers, fields));
  if (isOffset) return envelopeJson(offsetEnvelope({ items: [], total, page, size }), items);
  const encode = (keyset: Keyset | null) => keyset && cursors.encode(keyset, { plan, ...query });
  return envelopeJson(cursorEnvelope({ items: [], next: encode(next), prev: encode(prev) }), items);
}

function missing({ plan }: Resource): Error {
  return noSuchRecord({ name: plan.name, key: plan.info.primaryKey.name });
}
