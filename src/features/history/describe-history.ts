/** History and revert in the document. */
import {
  type DescribedAction,
  type DescribedResource,
  operationOf,
  parametersOf,
} from '../../openapi/described-route.js';
import { jsonContent, type OperationObject, schemaRef } from '../../openapi/openapi-object.js';
import { CURSOR_PROPERTIES } from '../../openapi/resource-schemas.js';
import type { RouteWords } from '../../operation/route-spec.js';
import { recordJsonSchema } from '../../respond/record-json-schema.js';
import { type JsonSchema, objectOf, withoutNotes } from '../../schema/json-schema.js';
import { storedProperties } from '../capture/stored-properties.js';
import { historyInputs } from './handle-history.js';

/** Texts of the routes. */
export const HISTORY_WORDS: RouteWords = {
  verb: 'Read the history of',
  success: 'A page of changes.',
  description: () =>
    'The changes of the record that the request may see, newest first: who has made them, when, and the values before and after. ' +
    'Values that the request may not see are absent.',
};

/** The same of a revert. */
export const REVERT_WORDS: RouteWords = {
  verb: 'Revert',
  success: 'The record after the change.',
  description: () =>
    'Changes the record to the values that it had after one of its changes, as a PATCH with these values does.',
};

/** Describes the history. */
export function describeHistory(mounted: DescribedAction): OperationObject {
  const { resource, action } = mounted;
  const { plan, names, features } = resource;
  return operationOf(resource, action, {
    operationId: `history${names.one}`,
    summary: `${HISTORY_WORDS.verb} ${names.phrase}`,
    description: HISTORY_WORDS.description(plan),
    parameters: parametersOf(mounted, historyInputs(resource)),
    answers: {
      200: { description: HISTORY_WORDS.success, content: jsonContent(schemaRef(names.schemas.past)) },
    },
    problems: [403, 404, ...features.read.problems],
  });
}

/** Describes the revert. */
export function describeRevert(mounted: DescribedAction): OperationObject {
  const { resource, action } = mounted;
  const { plan, names, features } = resource;
  const { inputs, headers, problems } = features.update;
  const answer: JsonSchema = { allOf: [schemaRef(names.schemas.written), SKIPPED] };
  return operationOf(resource, action, {
    operationId: `revert${names.one}`,
    summary: `${REVERT_WORDS.verb} ${names.phrase}`,
    description: REVERT_WORDS.description(plan),
    parameters: parametersOf(mounted, inputs),
    requestBody: { required: true, content: jsonContent(REVERT_BODY) },
    answers: {
      200: {
        description: REVERT_WORDS.success,
        ...(Object.keys(headers).length > 0 ? { headers } : {}),
        content: jsonContent(answer),
      },
    },
    problems: [403, 404, 409, 413, 415, 422, ...problems],
  });
}

const SKIPPED: JsonSchema = objectOf({
  skipped: {
    type: 'array',
    items: { type: 'string' },
    description: 'Names of values of the state that the record could not have again.',
  },
});

const CHANGE_ID: JsonSchema = { type: 'string', pattern: '^[1-9][0-9]{0,18}$', examples: ['8812'] };

const REVERT_BODY: JsonSchema = {
  type: 'object',
  properties: { to: { ...CHANGE_ID, description: 'The `id` of the change whose state the record gets.' } },
  required: ['to'],
  additionalProperties: false,
};

const TEXT_OR_NULL: JsonSchema = { type: ['string', 'null'] };

/** The schema of a page of changes. */
export function pastSchemas({ plan, names }: DescribedResource): Record<string, JsonSchema> {
  const { properties: shown = {} } = recordJsonSchema(plan);
  const changes = storedProperties(plan).map(({ name }) => {
    const value = withoutNotes(shown[name] ?? {});
    const properties = {
      from: value,
      to: value,
      raw: { type: 'boolean', description: 'True where a value no longer fits, and is as it was stored.' },
    } as const;
    return [name, { type: 'object', properties } satisfies JsonSchema] as const;
  });
  const item: Record<string, JsonSchema> = {
    id: CHANGE_ID,
    at: { type: 'string', format: 'date-time' },
    op: { type: 'string', enum: ['create', 'update', 'delete', 'restore'] },
    actor: { ...TEXT_OR_NULL, description: 'Who has made the change; null where it came from elsewhere.' },
    operation: { ...TEXT_OR_NULL, examples: [`${names.one}.update`] },
    request_id: TEXT_OR_NULL,
    of: { ...TEXT_OR_NULL, description: 'The change that a revert went back to.' },
    version: { description: 'The version of the record after the change; null where it has none.' },
    changed: {
      type: 'array',
      items: { type: 'string' },
      description: 'The names of all that has changed, also where values are not stored.',
    },
    changes: { type: 'object', properties: Object.fromEntries(changes) },
  };
  const page: Record<string, JsonSchema> = {
    items: {
      type: 'array',
      items: objectOf(item),
      maxItems: plan.pageSize.max,
    },
    ...CURSOR_PROPERTIES,
  };
  return { [names.schemas.past]: objectOf(page) };
}
