/** Imports in the document: the operation, and the schemas of its answers. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { MEDIA_TYPES } from '../../declare/export-options.js';
import type { ActionDescription } from '../../express/routes/describe-action.js';
import { type DescribedResource, inputParameter, operationOf } from '../../openapi/described-route.js';
import {
  jsonContent,
  type MediaTypeObject,
  type OperationObject,
  schemaRef,
} from '../../openapi/openapi-object.js';
import { PROBLEM_SCHEMAS, problemSaying } from '../../openapi/problem-responses.js';
import type { RouteWords } from '../../operation/route-spec.js';
import { bodyJsonSchema } from '../../schema/body-json-schema.js';
import { type JsonSchema, objectOf } from '../../schema/json-schema.js';
import { exampleValue } from '../example-value.js';
import { IDEMPOTENCY_KEY } from '../idempotency/idempotency-key.js';
import { type ImportPlan, importInputs } from './import-options.js';

/** Names of the schemas of a result, and of an import that is refused. */
const RESULT = 'ImportResult';
const PROBLEM = 'ImportProblem';

/** Texts of the route. */
export const WORDS: RouteWords = {
  verb: 'Import',
  success: 'The counts of an import.',
  description: () =>
    'A file of CSV with the names of properties in its first row, or of JSON lines. All rows are stored or none, unless `atomic` is `false`.',
};

/** Describes the route. */
export function importOperation(
  resource: DescribedResource,
  action: ActionDescription,
  option: ImportPlan,
): OperationObject {
  const { plan, names, features } = resource;
  const keys = features.create.inputs.filter(({ name }) => name === IDEMPOTENCY_KEY);
  const lines = { [MEDIA_TYPES.ndjson]: { schema: TEXT } };
  return operationOf(resource, action, {
    operationId: `import${names.many}`,
    summary: `${WORDS.verb} ${names.phrases}`,
    description: WORDS.description(plan),
    parameters: [...importInputs(plan, option), ...keys].flatMap(inputParameter),
    requestBody: { required: true, content: filesOf(plan) },
    answers: {
      200: {
        description:
          'All rows are stored. As JSON lines there is one for each chunk, and the last one is the result.',
        content: { ...jsonContent(schemaRef(RESULT)), ...lines },
      },
      207: {
        description: 'Some rows are refused, and the others are stored, because `atomic` is `false`.',
        content: jsonContent(schemaRef(RESULT)),
      },
      400: problemSaying(400, 'A parameter or the header of the file cannot be understood.', PROBLEM),
      422: problemSaying(
        422,
        'Rows are refused, and nothing is stored. Or the `Idempotency-Key` was used for another request.',
        PROBLEM,
      ),
    },
    problems: [403, 408, 409, 412, 413, 415, 503],
  });
}

/** A file of each form, ready to be sent where a create has an example. */
function filesOf(plan: ResourcePlan): Record<string, MediaTypeObject> {
  const row = exampleValue(bodyJsonSchema(plan, 'create')) as Record<string, unknown> | undefined;
  const cells = Object.values(row ?? {}).map((value) =>
    csvCell(typeof value === 'string' ? value : JSON.stringify(value)),
  );
  const files = {
    [MEDIA_TYPES.csv]: `${Object.keys(row ?? {}).join()}\n${cells.join()}\n`,
    [MEDIA_TYPES.ndjson]: `${JSON.stringify(row)}\n`,
  };
  return Object.fromEntries(
    Object.entries(files).map(([type, example]) => [type, { schema: TEXT, ...(row ? { example } : {}) }]),
  );
}

function csvCell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const TEXT: JsonSchema = { type: 'string' };
const COUNT: JsonSchema = { type: 'integer', minimum: 0 };

/** The schemas, by name. */
export function importSchemas(): Record<string, JsonSchema> {
  const error: JsonSchema = {
    type: 'object',
    description: 'One thing that is wrong.',
    properties: {
      row: { type: 'integer', minimum: 1, description: 'The row, from 1, without the header.' },
      line: { type: 'integer', minimum: 1, description: 'The line of the file on which the row begins.' },
      ...PROBLEM_SCHEMAS.Issue.properties,
      pointer: {
        type: 'string',
        description: 'A JSON pointer into the row (RFC 6901); empty for all of it.',
      },
    },
    required: ['row', 'line', 'code', 'detail'],
  };
  const properties = {
    rows: { ...COUNT, description: 'Rows of the file.' },
    created: { ...COUNT, description: 'Records that are new.' },
    updated: { ...COUNT, description: 'Records that were there.' },
    failed: { ...COUNT, description: 'Rows that are refused.' },
    errors: { type: 'array', items: error, description: 'The first things that are wrong.' },
    errors_shown: { ...COUNT, description: 'Number of `errors`.' },
  } satisfies Record<string, JsonSchema>;
  const { rows, failed, errors_shown } = properties;
  // Errors of the header, of a parameter or of an `Idempotency-Key`, none of which has a row.
  const errors: JsonSchema = { type: 'array', items: { ...error, required: ['code', 'detail'] } };
  return {
    [RESULT]: objectOf(properties),
    [PROBLEM]: {
      ...PROBLEM_SCHEMAS.Problem,
      properties: { ...PROBLEM_SCHEMAS.Problem.properties, rows, failed, errors, errors_shown },
    },
  };
}
