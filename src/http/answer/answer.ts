/** What a generated operation returned -> what leaves: through the read schema, in its envelope. Nothing is written yet. */
import type { Request } from 'express';
import type { Endpoint } from '../../metadata/crud-options.js';
import { gettersOf } from '../../persistence/customization/model-fast-path-blockers.js';
import { NotFoundError } from '../../persistence/errors/errors.js';
import type { OffsetPage, Page } from '../../persistence/paging/page.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { Keyset } from '../../query/keyset.js';
import type { ListQuery } from '../../query/list-query.js';
import { cursorEnvelope, offsetEnvelope } from '../../response/envelope.js';
import { readableAttributes } from '../../schema/derive-read-class.js';
import { hasTransform } from '../../schema/model-decorators.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { Resource } from '../resources/resource.js';

/** What an answer is made for. */
export interface AnswerContext {
  readonly request: Request;
  /** What the request asked for, where the answer depends on it. */
  readArguments(): RequestArguments | Promise<RequestArguments>;
}

/** An answer before it is sent: what shapes it may still fail, and what was written is undone then. */
export interface AnswerDraft {
  /** Undefined is an answer without a body. */
  readonly body: object | undefined;
  /** The address of what was created. */
  readonly location?: string | undefined;
}

/** Shapes the result of an operation. */
export async function shapeAnswer(
  resource: Resource,
  operation: Endpoint,
  result: unknown,
  { request, readArguments }: AnswerContext,
): Promise<AnswerDraft> {
  const { plan, serialize } = resource;
  if (operation === 'delete') return { body: undefined };
  if (operation === 'list')
    return { body: shapeList(resource, result, (await readArguments()).query as ListQuery) };
  if (typeof result !== 'object' || result === null) return missingRecord(plan.name, operation);
  if (operation === 'read') return { body: serialize(result, (await readArguments()).query?.fields) };
  if (operation === 'update') return { body: serialize(result) };
  const location = locationOf(request, plan, idOf(result, plan.info.primaryKey.name));
  return { body: serialize(result), location };
}

/** Whether code of the user's takes part in what records look like. It may throw, and nothing must be written then. */
export function isShapedByUser({ info, exposure, explicitSchemas }: ResourcePlan): boolean {
  const readable = readableAttributes(info, exposure);
  return (
    explicitSchemas.read !== null ||
    // The address of what was created has its key, also where answers do not.
    gettersOf(info, [...readable, info.primaryKey]).length > 0 ||
    readable.some(({ name }) => hasTransform(info, name, 'read'))
  );
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
function missingRecord(name: string, operation: Endpoint): never {
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
