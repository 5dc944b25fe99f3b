/** What a generated operation returned -> what leaves: through the read schema, in its envelope. */
import type { Request, Response } from 'express';
import type { Operation } from '../metadata/crud-options.js';
import { NotFoundError } from '../persistence/errors.js';
import type { Page } from '../persistence/page.js';
import { offsetEnvelope } from '../response/envelope.js';
import type { Resource } from './resource.js';

/** Shapes the result of an operation; undefined is an answer without a body. */
export function shapeAnswer(
  { plan, serialize }: Resource,
  operation: Operation,
  result: unknown,
  { request, response }: { request: Request; response: Response },
): object | undefined {
  if (operation === 'delete') return undefined;
  if (operation === 'list') return offsetEnvelope(expectPage(plan.name, result), serialize);
  if (typeof result !== 'object' || result === null) return missingRecord(plan.name, operation);
  if (operation === 'create')
    setLocation(response, `${request.baseUrl}${plan.prefix}`, idOf(result, plan.info.primaryKey.name));
  return serialize(result);
}

function expectPage(name: string, result: unknown): Page<object> {
  if (Array.isArray((result as Page<object> | undefined)?.items)) return result as Page<object>;
  throw new TypeError(
    `The list method of the ${name} controller must return a page: { items, total, page, size }.`,
  );
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
