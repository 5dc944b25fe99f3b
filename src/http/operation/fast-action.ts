/** The fast path of one generated route: rows of texts, written into JSON as they are. */
import type { Request, Response } from 'express';
import type { Endpoint } from '../../metadata/crud-options.js';
import type { Inputs } from '../../operation/feature.js';
import { hasScope } from '../../persistence/customization/default-scope.js';
import { hydrator, storedAttributes } from '../../persistence/customization/hydrate-record.js';
import { needsRecords } from '../../persistence/customization/model-fast-path-blockers.js';
import { hasQueryHooks } from '../../persistence/customization/model-hooks.js';
import { noSuchRecord } from '../../persistence/errors/errors.js';
import { RowExecutor, type RowPage } from '../../persistence/rows/row-executor.js';
import { currentSession } from '../../persistence/session/session.js';
import { encodeParameter } from '../../persistence/sql/encode-parameter.js';
import { NO_SLOTS } from '../../persistence/sql/statement.js';
import type { Keyset } from '../../query/keyset.js';
import type { ListQuery } from '../../query/list-query.js';
import {
  type CursorEnvelope,
  cursorEnvelope,
  envelopeJson,
  type OffsetEnvelope,
  offsetEnvelope,
} from '../../response/envelope.js';
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
  const executor = new RowExecutor(info);
  const writers = rowWriters(resource);
  const isOpen = (kind: 'read' | 'write') => (request: Request, response: Response) =>
    !hasQueryHooks(model, kind) &&
    !hasScope(model) &&
    currentSession(model.sequelize) === undefined &&
    existingSessions(request) === undefined &&
    writesPlainJson(response);
  return new Map(
    operations.map((operation) => {
      const kind = operation === 'list' || operation === 'read' ? 'read' : 'write';
      const answer = operationAnswer(resource, executor, writers, operation);
      return [operation, Object.freeze({ isOpen: isOpen(kind), answer })];
    }),
  );
}

/** Rows are written as they come, unless a getter or a virtual attribute has to see a record. */
function rowWriters({ plan, serialize }: Resource): RowWriters {
  const { info, exposure } = plan;
  const readable = readableAttributes(info, exposure);
  if (!needsRecords(info, readable)) return compileRowWriters(readable);
  const attributes = storedAttributes(info);
  return (parsers, fields) => {
    const record = hydrator(info, attributes, parsers);
    return (row) => JSON.stringify(serialize(record(row), fields));
  };
}

function operationAnswer(
  resource: Resource,
  executor: RowExecutor,
  writers: RowWriters,
  endpoint: Endpoint,
): FastAction['answer'] {
  const { plan, features } = resource;
  const { primaryKey, name } = plan.info;
  const { absent, operation, present } = features[endpoint];
  const usual = operation(absent);
  const keyAt = usual.kind === 'insert' ? usual.returning.columns.indexOf(primaryKey.name) : -1;
  return async ({ query, id, values }, request) => {
    const slots = id === undefined ? NO_SLOTS : { id: encodeParameter(primaryKey.type, id) as string };
    const found = await executor.run(operation(query, values), slots);
    if (found === null) return null;
    const { rows, parsers, count } = found;
    if (endpoint !== 'list' && count === 0) throw noSuchRecord({ name, key: primaryKey.name });
    const draft = present({ inputs: query, count, id: rows[0]?.[keyAt] }, request);
    if (endpoint === 'delete') return new EmptyAnswer(draft);
    // Where there are no rows, nobody has said how to read one.
    const texts = rows.length === 0 ? [] : rows.map(writers(parsers, query.fields));
    const text = endpoint === 'list' ? envelopeJson(envelopeOf(resource, found, query), texts) : texts[0];
    return new JsonAnswer(text as string, draft);
  };
}

function envelopeOf(
  { plan, cursors }: Resource,
  { total = 0, next = null, prev = null }: RowPage,
  inputs: Inputs,
): OffsetEnvelope | CursorEnvelope {
  const query = inputs as ListQuery;
  if (query.kind === 'offset') return offsetEnvelope({ ...query, items: [], total });
  const encode = (keyset: Keyset | null) => keyset && cursors.encode(keyset, { plan, ...query });
  return cursorEnvelope({ items: [], next: encode(next), prev: encode(prev) });
}
