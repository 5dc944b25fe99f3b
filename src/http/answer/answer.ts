/** What a generated operation returned -> what leaves: through the read schema, in its envelope. Nothing is written yet. */
import type { Request } from 'express';
import type { Endpoint } from '../../metadata/crud-options.js';
import type { AnswerDraft, Inputs, OperationResult } from '../../operation/feature.js';
import { gettersOf } from '../../persistence/customization/model-fast-path-blockers.js';
import { NotFoundError } from '../../persistence/errors/errors.js';
import type { OffsetPage, Page } from '../../persistence/paging/page.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { Keyset } from '../../query/keyset.js';
import type { ListQuery } from '../../query/list-query.js';
import { cursorEnvelope, offsetEnvelope } from '../../response/envelope.js';
import { readableAttributes } from '../../schema/derive-read-class.js';
import { hasTransform } from '../../schema/model-decorators.js';
import type { Resource } from '../resources/resource.js';

/** What an answer is made for. */
export interface AnswerContext {
  readonly request: Request;
  /** What the request asked for. */
  readInputs(): Inputs | Promise<Inputs>;
}

/** An answer before it is sent: what shapes it may still fail, and what was written is undone then. */
export interface ShapedAnswer extends AnswerDraft {
  /** Undefined is an answer without a body. */
  readonly body: object | undefined;
}

/** Shapes the result of an operation. */
export async function shapeAnswer(
  resource: Resource,
  operation: Endpoint,
  result: unknown,
  { request, readInputs }: AnswerContext,
): Promise<ShapedAnswer> {
  const inputs = await readInputs();
  const { body, ...outcome } = shapeResult(resource, operation, result, inputs);
  return { body, ...resource.features[operation].present({ inputs, ...outcome }, request) };
}

/** A body, and what headers depend on. */
type ShapedResult = Pick<ShapedAnswer, 'body'> & Omit<OperationResult, 'inputs'>;

function shapeResult(resource: Resource, operation: Endpoint, result: unknown, inputs: Inputs): ShapedResult {
  const { plan, serialize } = resource;
  if (operation === 'delete') return { body: undefined, count: 1 };
  if (operation === 'list') return shapeList(resource, result, inputs as ListQuery);
  if (typeof result !== 'object' || result === null) return missingRecord(plan.name, operation);
  const id = operation === 'create' ? idOf(result, plan.info.primaryKey.name) : undefined;
  return { id, body: serialize(result, inputs.fields), count: 1 };
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

function shapeList({ plan, serialize, cursors }: Resource, result: unknown, query: ListQuery): ShapedResult {
  const page = (result ?? {}) as Partial<Page<object>>;
  if (!Array.isArray(page.items)) {
    throw new TypeError(`The list method of the ${plan.name} controller must return a page with items.`);
  }
  const items = page.items.map((record) => serialize(record, query.fields));
  const count = items.length;
  if (query.kind === 'offset') {
    return { body: offsetEnvelope({ ...(page as OffsetPage<object>), items }), count };
  }
  const encode = (place: Keyset | null | undefined): string | null =>
    place ? cursors.encode(place, { plan, ...query }) : null;
  return { body: cursorEnvelope({ items, next: encode(page.next), prev: encode(page.prev) }), count };
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
