/** What a generated operation returned -> what leaves: through the read schema, in its envelope. */
import type { Request, Response } from 'express';
import type { Operation } from '../metadata/crud-options.js';
import { NotFoundError } from '../persistence/errors.js';
import type { OffsetPage, Page } from '../persistence/page.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { Keyset } from '../query/keyset.js';
import type { ListQuery } from '../query/list-query.js';
import { cursorEnvelope, offsetEnvelope } from '../response/envelope.js';
import type { RequestArguments } from './parse-request.js';
import type { Resource } from './resource.js';

/** What an answer is made for. */
export interface AnswerContext {
  readonly request: Request;
  readonly response: Response;
  /** What the request asked for, where the answer depends on it. */
  readArguments(): RequestArguments | Promise<RequestArguments>;
}

/** Shapes the result of an operation; undefined is an answer without a body. */
export async function shapeAnswer(
  resource: Resource,
  operation: Operation,
  result: unknown,
  { request, response, readArguments }: AnswerContext,
): Promise<object | undefined> {
  const { plan, serialize } = resource;
  if (operation === 'delete') return undefined;
  if (operation === 'list') return shapeList(resource, result, (await readArguments()).query as ListQuery);
  if (typeof result !== 'object' || result === null) return missingRecord(plan.name, operation);
  if (operation === 'read') return serialize(result, (await readArguments()).fields);
  if (operation === 'create') {
    const location = locationOf(request, plan, idOf(result, plan.info.primaryKey.name));
    if (location !== undefined) response.setHeader('Location', location);
  }
  return serialize(result);
}

function shapeList({ plan, serialize, cursors }: Resource, result: unknown, query: ListQuery): object {
  const page = (result ?? {}) as Partial<Page<object>>;
  if (!Array.isArray(page.items)) {
    throw new TypeError(`The list method of the ${plan.name} controller must return a page with items.`);
  }
  const items = page.items.map((record) => serialize(record, query.fields));
  if (query.kind === 'offset') return offsetEnvelope({ ...(page as OffsetPage<object>), items });
  const encode = (place: Keyset | null | undefined): string | null =>
    place ? cursors.encode(place, { plan, ...query }) : null;
  return cursorEnvelope({ items, next: encode(page.next), prev: encode(page.prev) });
}

/** An override that finds nothing may return nothing; one that creates must have created something. */
function missingRecord(name: string, operation: Operation): never {
  if (operation === 'create') {
    throw new TypeError(`The create method of the ${name} controller must return the record it created.`);
  }
  throw new NotFoundError(`There is no such ${name}.`);
}

function idOf(record: object, primaryKey: string): unknown {
  return (record as Record<string, unknown>)[primaryKey];
}

/** RFC 9110, 15.3.2: the address of what was created. */
export function locationOf(request: Request, { prefix }: ResourcePlan, id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined;
  return `${request.baseUrl}${prefix}/${encodeURIComponent(String(id))}`;
}
