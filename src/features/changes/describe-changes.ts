/** Feeds in the document. */
import {
  type DescribedAction,
  type DescribedResource,
  idSchema,
  operationOf,
  parametersOf,
} from '../../openapi/described-route.js';
import { type OperationObject, schemaRef } from '../../openapi/openapi-object.js';
import type { RouteWords } from '../../operation/route-spec.js';
import { type JsonSchema, objectOf } from '../../schema/json-schema.js';
import type { FeedSettings } from './feed-options.js';
import { changesInputs } from './handle-changes.js';

/** Texts of the route. */
export const WORDS: RouteWords = {
  verb: 'Follow',
  success: 'Events behind a place, or a stream of them.',
  description: () =>
    'What has changed, in the order of each record and without gaps. An event has no values: read the record again. A record that leaves what ' +
    'the request may see, or `q`, is a `delete`; one that enters it is a `create`. With `Accept: text/event-stream` the answer is a ' +
    'stream, which goes on behind `Last-Event-ID`. `reset` means that all is to be read again.',
};

const nameOf = ({ names }: DescribedResource) => `${names.one}Change`;

/** Describes the route. */
export function describeChanges(mounted: DescribedAction, settings: FeedSettings): OperationObject {
  const { resource, action } = mounted;
  const { names, plan, features } = resource;
  const { inputs } = features.listInputs(['q'], changesInputs(settings));
  return operationOf(resource, action, {
    operationId: `follow${names.many}`,
    summary: `${WORDS.verb} changes of ${names.phrases}`,
    description: WORDS.description(plan),
    parameters: [
      ...parametersOf(mounted, inputs),
      {
        name: 'Last-Event-ID',
        in: 'header',
        required: false,
        description:
          'The id of the last event of a stream, which goes on behind it. It comes before `after`.',
        schema: { type: 'string' },
      },
    ],
    answers: {
      200: {
        description: WORDS.success,
        content: {
          'application/json': { schema: schemaRef(`${nameOf(resource)}s`) },
          'text/event-stream': {
            schema: {
              type: 'string',
              description: `Events \`change\`, each with the data of ${nameOf(resource)} and the member \`resource\`.`,
            },
          },
        },
      },
    },
    problems: [410, ...features.list.problems],
  });
}

/** The schemas of an event, and of a page of them. */
export function changesSchemas(resource: DescribedResource): Record<string, JsonSchema> {
  const { plan } = resource;
  const event: JsonSchema = objectOf(
    {
      op: { type: 'string', enum: ['create', 'update', 'delete', 'reset'] },
      id: {
        ...idSchema(plan),
        type: 'string',
        description: 'The id of the record as a text. A `reset` has none.',
      },
      at: { type: 'string', format: 'date-time' },
      version: { type: 'integer', description: 'Of a record that counts its changes.' },
      changed: {
        type: 'array',
        items: { type: 'string' },
        description:
          'The names of what an update has changed, as far as the request may read them. None where only computed properties may have.',
      },
      request_id: {
        type: ['string', 'null'],
        description: 'The `X-Request-Id` of the request that has written it. Null for other writers.',
      },
    },
    ['op', 'at', 'request_id'],
  );
  return {
    [nameOf(resource)]: event,
    [`${nameOf(resource)}s`]: objectOf({
      items: { type: 'array', items: schemaRef(nameOf(resource)) },
      next_cursor: { type: 'string', description: 'The place behind the events, for `after`.' },
      has_next: { type: 'boolean', description: 'Whether others are there already.' },
    }),
  };
}
