/** Parses bodies against the schemas of a model, without a request. */
import { type BodySchema, bodySchema, parseBody as parse } from '../../src/schema/body-schema.js';
import type { BodyValues } from '../../src/schema/body-values.js';
import { InvalidBodyError, type RequestIssue } from '../../src/schema/request-issue.js';
import { caughtError } from './caught-error.js';
import { planOf } from './offline-models.js';

type AnyModel = Parameters<typeof planOf>[0];

/** The message for a value with a key that would change a prototype. */
export const UNSAFE_KEY =
  'must not hold NUL characters, lone surrogates, or keys named __proto__, constructor or prototype.';

/** The values of a body. */
export async function parseBody(schema: BodySchema, body: unknown): Promise<BodyValues> {
  return parse(schema, body);
}

/** The values of a create. */
export function parseCreate(model: AnyModel, body: unknown, options: object = {}): Promise<BodyValues> {
  return parseBody(bodySchema(planOf(model, options), 'create'), body);
}

/** The values of an update. */
export function parseUpdate(model: AnyModel, body: unknown, options: object = {}): Promise<BodyValues> {
  return parseBody(bodySchema(planOf(model, options), 'update'), body);
}

/** Parses as a request does, so that `__proto__` becomes a key of its own. */
export function parseBodyText(schema: BodySchema, text: string): Promise<BodyValues> {
  return parseBody(schema, JSON.parse(text));
}

/** Everything that a body is refused for. */
export async function bodyIssues(parsing: Promise<unknown>): Promise<readonly RequestIssue[]> {
  const error = await caughtError(() => parsing);
  if (!(error instanceof InvalidBodyError)) throw error;
  return error.errors;
}
