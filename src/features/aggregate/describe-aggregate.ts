/** Aggregates in the document: the operation, and the schema of its groups with exactly the members of the option. */
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import { MEASURES, type TimeUnit } from '../../declare/aggregate-options.js';
import {
  type DescribedAction,
  type DescribedResource,
  operationOf,
  parametersOf,
} from '../../openapi/described-route.js';
import { jsonContent, type OperationObject, schemaRef } from '../../openapi/openapi-object.js';
import { pascalCase, toWords } from '../../openapi/resource-schemas.js';
import type { RouteWords } from '../../operation/route-spec.js';
import { recordJsonSchema } from '../../respond/record-json-schema.js';
import { type JsonSchema, objectOf, orNull, withoutNotes } from '../../schema/json-schema.js';
import { parentProblems } from '../sub-resources/sub-resources.js';
import { hasZone } from './aggregate-inputs.js';
import type { MeasureTerm } from './aggregate-operation.js';
import type { AggregatePlan } from './aggregate-options.js';
import { inputsOf } from './handle-aggregate.js';
import { relatedGroup } from './related-group.js';

/** Texts of the route. */
export const WORDS: RouteWords = {
  verb: 'Group',
  success: 'A page of groups.',
  description: () =>
    'Groups of the records that the list has, each with the number of its records and the measures that the request names. NULL is a group.',
};

/** Describes the route. @param below the relation whose records are grouped; null for those of the resource */
export function describeAggregate(
  plan: AggregatePlan,
  mounted: DescribedAction,
  below: SubresourcePlan | null,
): OperationObject {
  const { resource, action, resourceOf } = mounted;
  const { names } = resource;
  const { name = '', target = null } = below?.relation ?? {};
  const grouped = target ? resourceOf(target) : resource;
  const schema = schemaRef(grouped.names.schemas.groups);
  return operationOf(resource, action, {
    operationId: `aggregate${below ? `${names.one}${pascalCase(name)}` : names.many}`,
    summary: `${WORDS.verb} ${below ? `${toWords(name)} of ${names.phrase}` : names.phrases}`,
    description: WORDS.description(grouped.plan),
    parameters: parametersOf(mounted, inputsOf(plan, grouped).inputs),
    answers: { 200: { description: WORDS.success, content: jsonContent(schema) } },
    problems: [...(below ? parentProblems(below, resource) : []), ...grouped.features.list.problems],
  });
}

/** The schema of a page of groups. */
export function aggregateSchemas(
  { groups, measures, size }: AggregatePlan,
  { plan, names }: DescribedResource,
): Record<string, JsonSchema> {
  const schemaOf = (name: string): JsonSchema => {
    const { target = plan, attribute = name } = relatedGroup(plan, name) ?? {};
    return orNull(withoutNotes(recordJsonSchema(target).properties?.[attribute] ?? {}));
  };
  const group = [...groups.values()].map(({ name, attribute, unit }) => [
    name,
    spanSchema(unit, schemaOf(attribute)),
  ]);
  const measured = MEASURES.flatMap((measure) => {
    const own = [...measures.values()].filter((term) => term.measure === measure);
    if (own.length === 0) return [];
    return [
      [measure, partOf(own.map((term) => [term.attribute, measureSchema(term, schemaOf(term.attribute))]))],
    ];
  });
  const item: JsonSchema = objectOf(
    {
      group: { description: 'The values of the group: those that `group` names.', ...partOf(group) },
      count: { type: 'integer', minimum: 0, description: 'How many records the group has.' },
      ...Object.fromEntries(measured),
    },
    ['group', 'count'],
  );
  const tz: JsonSchema = { type: 'string', description: 'The time zone of spans of moments.' };
  return {
    [names.schemas.groups]: objectOf(
      {
        items: { type: 'array', items: item, maxItems: size.max },
        has_next: { type: 'boolean', description: 'Whether other groups follow.' },
        ...(hasZone(groups.values(), plan.info) ? { tz } : {}),
      },
      ['items', 'has_next'],
    ),
  };
}

/** An object with any of the members. */
function partOf(members: readonly (readonly unknown[])[]): JsonSchema {
  return { type: 'object', properties: Object.fromEntries(members), additionalProperties: false };
}

/** The value, or the day on which its span begins; an hour begins at a moment. */
function spanSchema(unit: TimeUnit | null, value: JsonSchema): JsonSchema {
  return unit === null || unit === 'hour' ? value : { type: ['string', 'null'], format: 'date' };
}

function measureSchema({ measure }: MeasureTerm, value: JsonSchema): JsonSchema {
  if (measure === 'countDistinct') return { type: 'integer', minimum: 0 };
  if (measure === 'min' || measure === 'max') return value;
  const isNumber = [value.type].flat().includes('number');
  return isNumber
    ? { type: ['number', 'null'] }
    : { type: ['string', 'null'], description: 'An exact decimal number.', examples: ['1466146500'] };
}
