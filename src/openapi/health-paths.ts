/** The health routes, described. */
import { type HealthOptions, resolveHealthOptions } from '../health/health-options.js';
import { type JsonSchema, objectOf } from '../schema/json-schema.js';
import { jsonContent, type OperationObject, type PathItemObject, schemaRef } from './openapi-object.js';
import { problemReferences } from './problem-responses.js';

/** The tag of the health routes. */
export const HEALTH_TAG = Object.freeze({ name: 'Health', description: 'Probes for an orchestrator.' });

/** The schema of the report. */
export const HEALTH_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  HealthReport: objectOf({
    status: { type: 'string', enum: ['healthy', 'unhealthy'] },
    checks: {
      type: 'array',
      description: 'The back ends; none while the process stops.',
      items: objectOf({
        name: { type: 'string', enum: ['postgres', 'clickhouse', 'cache'] },
        healthy: { type: 'boolean' },
        latency_ms: { type: ['number', 'null'], minimum: 0 },
        error: { type: ['string', 'null'], description: 'A reason in two or three words.' },
      }),
    },
  }),
};

const report = (healthy: boolean, error: string | null) => ({
  status: healthy ? 'healthy' : 'unhealthy',
  checks: [{ name: 'postgres', healthy, latency_ms: healthy ? 4.2 : null, error }],
});

/** The paths of the health routes with these options. */
export function healthPaths(options: HealthOptions): Record<string, PathItemObject> {
  const { prefix, includeLiveness } = resolveHealthOptions(options);
  const schema = schemaRef('HealthReport');
  const ready = probe('checkReadiness', 'Whether requests can be answered', {
    description: 'Asks every back end; the report is given out again for a second.',
    responses: {
      200: { description: 'Every back end answers.', content: jsonContent(schema, report(true, null)) },
      503: {
        description: 'A back end does not answer, or the process is stopping.',
        content: jsonContent(schema, report(false, 'connection refused')),
      },
    },
  });
  const live = probe('checkLiveness', 'Whether the process turns', {
    description: 'Asks nothing.',
    responses: { 200: { description: 'It does.', content: jsonContent(ALIVE, { status: 'alive' }) } },
  });
  return { [`${prefix}/ready`]: ready, ...(includeLiveness ? { [`${prefix}/live`]: live } : {}) };
}

const ALIVE: JsonSchema = objectOf({ status: { type: 'string', const: 'alive' } });

function probe(
  operationId: string,
  summary: string,
  { description, responses }: Pick<OperationObject, 'description' | 'responses'>,
): PathItemObject {
  const all = { ...responses, ...problemReferences([405]) };
  return { get: { operationId, tags: [HEALTH_TAG.name], summary, description, responses: all } };
}
