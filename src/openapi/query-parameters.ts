/** The query parameters of lists and reads, with the bounds and names that their parsers hold. */
import { MAX_SORT_TERMS } from '../plan/compile-options.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import { CURSOR_LENGTH } from '../query/cursor-codec.js';
import { FILTER_LIMITS } from '../query/filter-syntax.js';
import { MAX_PAGE } from '../query/parse-list-query.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { filterDescription, filterExamples } from './filter-guide.js';
import type { ParameterObject } from './openapi-object.js';

/** The parameters of the list, as `LIST_PARAMETERS` has them; what can hold no value is left out. */
export function listParameters(plan: ResourcePlan, readable: readonly string[]): ParameterObject[] {
  return [
    ...placeParameters(plan),
    sizeParameter(plan),
    ...sortParameter(plan),
    ...filterParameter(plan),
    ...fieldsParameter(readable),
  ];
}

/** The parameter of lists and reads that chooses properties. */
export function fieldsParameter(readable: readonly string[]): ParameterObject[] {
  if (readable.length === 0) return [];
  const description = 'Only these properties are answered.';
  return [listParameter('fields', readable, { description, maxItems: readable.length })];
}

function placeParameters({ pagination }: ResourcePlan): ParameterObject[] {
  if (pagination === 'offset') {
    return [
      queryParameter('page', 'The number of the page. One past the end has no items.', {
        type: 'integer',
        minimum: 1,
        maximum: MAX_PAGE,
        default: 1,
      }),
    ];
  }
  const cursor: JsonSchema = { type: 'string', minLength: 1, maxLength: CURSOR_LENGTH };
  const rule = 'unchanged, with the same `q` and `sort`. Not together with';
  return [
    queryParameter('after', `The \`next_cursor\` of another page, ${rule} \`before\`.`, cursor),
    queryParameter('before', `The \`prev_cursor\` of another page, ${rule} \`after\`.`, cursor),
  ];
}

function sizeParameter({ pageSize }: ResourcePlan): ParameterObject {
  return queryParameter('size', 'How many items a page has.', {
    type: 'integer',
    minimum: 1,
    maximum: pageSize.max,
    default: pageSize.default,
  });
}

function sortParameter({ sortable, defaultSort }: ResourcePlan): ParameterObject[] {
  if (sortable.length === 0) return [];
  const order = defaultSort.map(({ attribute, descending }) => `${descending ? '-' : ''}${attribute}`);
  return [
    listParameter(
      'sort',
      sortable.flatMap((name) => [name, `-${name}`]),
      {
        description:
          `The order; \`-\` is descending. An attribute is named once. Default: \`${order.join(',')}\`. ` +
          'The primary key is appended, so that the order is total.',
        maxItems: Math.min(MAX_SORT_TERMS, sortable.length),
      },
    ),
  ];
}

function filterParameter(plan: ResourcePlan): ParameterObject[] {
  if (plan.filters.size === 0) return [];
  const examples = filterExamples(plan);
  return [
    queryParameter('q', filterDescription(plan), {
      type: 'string',
      maxLength: FILTER_LIMITS.length,
      ...(examples.length > 0 ? { examples } : {}),
    }),
  ];
}

function queryParameter(name: string, description: string, schema: JsonSchema): ParameterObject {
  return { name, in: 'query', required: false, description, schema };
}

/** Values between commas. */
function listParameter(
  name: string,
  members: readonly string[],
  { description, maxItems }: { description: string; maxItems: number },
): ParameterObject {
  return {
    ...queryParameter(name, description, {
      type: 'array',
      items: { type: 'string', enum: members },
      minItems: 1,
      maxItems,
      uniqueItems: true,
    }),
    style: 'form',
    explode: false,
  };
}
