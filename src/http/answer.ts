/** What a generated operation returned -> what leaves: through the read schema, in its envelope. */
import type { Request, Response } from 'express';
import type { Operation } from '../metadata/crud-options.js';
import { NotFoundError } from '../persistence/errors.js';
import type { OffsetPage, Page } from '../persistence/page.js';
import type { Keyset } from '../query/keyset.js';
import type { ListQuery } from '../query/list-query.js';
import { cursorEnvelope, offsetEnvelope } from '../response/envelope.js';
import type { Resource } from './resource.js';

/** Shapes the result of an operation; undefined is an answer without a body. */
export async function shapeAnswer(
  resource: Resource,
  operation: Operation,
  result: unknown,
  { request, response }: { request: Request; response: Response },
): Promise<object | undefined> {
  const { plan, serialize, parsers } = resource;
  if (operation === 'delete') return undefined;
  if (operation === 'list')
    return shapeList(resource, result, (await parsers.list(request)).query as ListQuery);
  if (typeof result !== 'object' || result === null) return missingRecord(plan.name, operation);
  if (operation === 'read') return serialize(result, (await parsers.read(request)).fields);
  if (operation === 'create') {
    setLocation(response, `${request.baseUrl}${plan.prefix}`, idOf(result, plan.info.primaryKey.name));
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
function setLocation(response: Response, collection: string, id: unknown): void {
  if (id !== undefined && id !== null)
    response.setHeader('Location', `${collection}/${encodeURIComponent(String(id))}`);
}
