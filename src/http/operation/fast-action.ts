/** The fast path of one generated route: rows of texts, written into JSON as they are. */
import type { Request, Response } from 'express';
import type { Endpoint } from '../../metadata/crud-options.js';
import type { AttributeInfo } from '../../model/model-info.js';
import { hasScope } from '../../persistence/customization/default-scope.js';
import { hydrator, storedAttributes } from '../../persistence/customization/hydrate-record.js';
import { needsRecords } from '../../persistence/customization/model-fast-path-blockers.js';
import { hasQueryHooks } from '../../persistence/customization/model-hooks.js';
import { noSuchRecord } from '../../persistence/errors/errors.js';
import type { Page } from '../../persistence/paging/page.js';
import type { TextRow } from '../../persistence/protocol/batch.js';
import { FastFinder, type TextPage, type TextRows } from '../../persistence/rows/fast-finder.js';
import { FastWriter } from '../../persistence/rows/fast-writer.js';
import { currentSession } from '../../persistence/session/session.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import { describeTable } from '../../persistence/sql/table-sql.js';
import type { Keyset } from '../../query/keyset.js';
import type { ListQuery } from '../../query/list-query.js';
import { cursorEnvelope, envelopeJson, offsetEnvelope } from '../../response/envelope.js';
import { compileRowWriters, type RowWriters } from '../../response/row-writer.js';
import { readableAttributes } from '../../schema/derive-read-class.js';
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
  const table = describeTable(info, rows.attributes);
  const finder = new FastFinder(table);
  const writer = new FastWriter(table);
  const isOpen = (kind: 'read' | 'write') => (request: Request, response: Response) =>
    !hasQueryHooks(model, kind) &&
    !hasScope(model) &&
    currentSession(model.sequelize) === undefined &&
    existingSessions(request) === undefined &&
    writesPlainJson(response);
  return new Map(
    operations.map((operation) => {
      const kind = operation === 'list' || operation === 'read' ? 'read' : 'write';
      const answer = operationAnswer(rows, finder, writer, operation);
      return [operation, Object.freeze({ isOpen: isOpen(kind), answer })];
    }),
  );
}

/** Rows are written as they come, unless a getter or a virtual attribute has to see a record. */
function describeRows(resource: Resource): RowsJson {
  const { info, exposure } = resource.plan;
  const readable = readableAttributes(info, exposure);
  if (!needsRecords(info, readable)) {
    return { resource, attributes: readable, writers: compileRowWriters(readable) };
  }
  const attributes = storedAttributes(info);
  const writers: RowWriters = (parsers, fields) => {
    const record = hydrator(info, attributes, parsers);
    return (row) => JSON.stringify(resource.serialize(record(row), fields));
  };
  return { resource, attributes, writers };
}

function operationAnswer(
  rows: RowsJson,
  finder: FastFinder,
  writer: FastWriter,
  operation: Endpoint,
): FastAction['answer'] {
  const { resource, attributes } = rows;
  const { primaryKey } = resource.plan.info;
  const keyText = (id: unknown): string => encodeParameter(primaryKey.type, id) as string;
  const { present } = resource.features[operation];
  const keyAt = attributes.indexOf(primaryKey);
  switch (operation) {
    case 'list':
      return async ({ query }, request) => {
        const { text, count } = await listJson(rows, finder, query as ListQuery);
        return new JsonAnswer(text, present({ inputs: query, count }, request));
      };
    case 'read':
      return async ({ query, id }, request) => {
        const text = recordJson(rows, await finder.find(keyText(id)), query.fields);
        return new JsonAnswer(text, present({ inputs: query, count: 1 }, request));
      };
    case 'create':
      return async ({ query, values = {} }, request) => {
        const created = await writer.insert(values);
        if (created === null) return null;
        const result = { inputs: query, count: 1, id: created.rows[0]?.[keyAt] };
        return new JsonAnswer(recordJson(rows, created), present(result, request));
      };
    case 'update':
      return async ({ query, id, values = {} }, request) => {
        const updated = await writer.update(keyText(id), values);
        if (updated === null) return null;
        return new JsonAnswer(recordJson(rows, updated), present({ inputs: query, count: 1 }, request));
      };
    case 'delete':
      return async ({ query, id }, request) => {
        if (!(await writer.delete(keyText(id)))) throw missing(resource);
        return new EmptyAnswer(present({ inputs: query, count: 1 }, request));
      };
  }
}

/** How the rows of a resource are written. */
interface RowsJson {
  readonly resource: Resource;
  /** What rows are read with, in order. */
  readonly attributes: readonly AttributeInfo[];
  readonly writers: RowWriters;
}

function recordJson(
  { resource, writers }: RowsJson,
  { rows, parsers }: TextRows,
  fields?: readonly string[] | null,
): string {
  const [row] = rows;
  if (row === undefined) throw missing(resource);
  return writers(parsers, fields)(row);
}

async function listJson(
  { resource: { plan, cursors }, writers }: RowsJson,
  finder: FastFinder,
  query: ListQuery,
): Promise<{ readonly text: string; readonly count: number }> {
  // Where there are no rows, nobody has said how to read one.
  const write = ({ items, parsers }: TextPage<Page<TextRow>>): string[] =>
    items.length === 0 ? [] : items.map(writers(parsers, query.fields));
  if (query.kind === 'offset') {
    const page = await finder.page(query);
    const text = envelopeJson(offsetEnvelope({ ...page, items: [] }), write(page));
    return { text, count: page.items.length };
  }
  const page = await finder.cursorPage(query);
  const encode = (place: Keyset | null) => place && cursors.encode(place, { plan, ...query });
  const envelope = cursorEnvelope({ items: [], next: encode(page.next), prev: encode(page.prev) });
  return { text: envelopeJson(envelope, write(page)), count: page.items.length };
}

function missing({ plan }: Resource): Error {
  return noSuchRecord({ name: plan.name, key: plan.info.primaryKey.name });
}
