/** Links in the document. */
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import {
  type DescribedAction,
  idMemberSchema,
  idSchema,
  operationOf,
  parametersOf,
} from '../../openapi/described-route.js';
import { jsonContent, type OperationObject, type RequestBodyObject } from '../../openapi/openapi-object.js';
import { pascalCase, toWords } from '../../openapi/resource-schemas.js';
import type { ProblemStatus } from '../../operation/refused-request-error.js';
import type { RouteWords } from '../../operation/route-spec.js';
import { bodyProperty } from '../../schema/body-json-schema.js';
import type { JsonSchema } from '../../schema/json-schema.js';
import {
  describePairs,
  linkAttributes,
  type linkedRelations,
  MAX_REPLACED,
  shownAttributes,
} from './link-options.js';
import { type LinkWork, linkHeaders, linkInputs } from './parse-links.js';

/** Texts of the routes. */
export const WORDS: Readonly<Record<LinkWork, RouteWords>> = {
  link: words(
    'Set a link',
    'The link, which was there.',
    'Sets the link to one record, and the attributes of the body. One that is there stays.',
  ),
  unlink: words('Remove a link', 'The link is removed.', 'Removes the link to one record, which stays.'),
  add: words(
    'Add links',
    'The links, in the order of the body.',
    'Adds links. Those that are there stay as they are, with their attributes.',
  ),
  replace: words(
    'Replace links',
    'The links, in the order of the body.',
    'Sets all links: the others are removed, as far as they lead to records that the request sees.',
  ),
};

function words(verb: string, success: string, text: string): RouteWords {
  return { verb, success, description: () => text };
}

/** The attributes of a link, as answers have them. */
export function linkSchema(below: SubresourcePlan, shown: readonly AttributeInfo[]): JsonSchema {
  return {
    type: 'object',
    description: 'The attributes of the link.',
    properties: attributeSchemas(below, shown),
  };
}

function attributeSchemas(
  below: SubresourcePlan,
  attributes: readonly AttributeInfo[],
): Readonly<Record<string, JsonSchema>> {
  if (!below.through) return {};
  const info = describePairs(below);
  return Object.fromEntries(attributes.map((each) => [each.name, bodyProperty(info, each, 'update').schema]));
}

/** Describes the route of a work. */
export function describeLinks(
  work: LinkWork,
  { below, link }: ReturnType<typeof linkedRelations>[number],
  mounted: DescribedAction,
): OperationObject {
  const { resource, action, resourceOf } = mounted;
  const { plan, names, features } = resource;
  const { relation } = below;
  const target = resourceOf(relation.target);
  const isArray = work === 'add' || work === 'replace';
  const one: JsonSchema = {
    type: 'object',
    properties: {
      id: idMemberSchema(target.plan),
      ...attributeSchemas(below, shownAttributes(below, link.fields)),
    },
    required: ['id'],
  };
  const inputs = [...linkInputs(work), ...linkHeaders({ features }, link.touch, work)];
  const parameters = parametersOf(mounted, inputs).map((each) =>
    each.in === 'path' && each.name === 'target'
      ? { ...each, description: `The id of one of ${toWords(relation.name)}.`, schema: idSchema(target.plan) }
      : each,
  );
  const sent = attributeSchemas(below, linkAttributes(below, link.fields));
  const requestBody = bodyOf(work, link.max, sent, idMemberSchema(target.plan));
  const statuses: readonly ProblemStatus[] = [
    ...([403, 404, 409, 412] as const),
    ...(requestBody ? ([413, 415, 422] as const) : []),
    ...(link.touch ? features.update.problems : []),
  ];
  const answer = isArray ? resultSchema(work, one) : one;
  const success = {
    description: WORDS[work].success,
    ...(work === 'unlink' ? {} : { content: jsonContent(answer) }),
  };
  return operationOf(resource, action, {
    operationId: `${work}${names.one}${pascalCase(relation.name)}`,
    summary: `${WORDS[work].verb} of ${toWords(relation.name)} of ${names.phrase}`,
    description: WORDS[work].description(plan),
    parameters,
    ...(requestBody ? { requestBody } : {}),
    answers: {
      [work === 'unlink' ? 204 : 200]: success,
      ...(work === 'link' ? { 201: { ...success, description: 'The new link.' } } : {}),
    },
    problems: [...new Set(statuses)],
  });
}

/** @param id schema of the id in answers */
function bodyOf(
  work: LinkWork,
  max: number,
  sent: Readonly<Record<string, JsonSchema>>,
  { readOnly: _, ...id }: JsonSchema,
): RequestBodyObject | undefined {
  if (work === 'unlink') return undefined;
  if (work === 'link') {
    if (Object.keys(sent).length === 0) return undefined;
    return {
      required: false,
      content: jsonContent({ type: 'object', properties: sent, additionalProperties: false }),
    };
  }
  const items: JsonSchema = {
    type: 'object',
    properties: { id, ...sent },
    required: ['id'],
    additionalProperties: false,
  };
  const bounds = work === 'add' ? { minItems: 1, maxItems: max } : { maxItems: MAX_REPLACED };
  return { required: true, content: jsonContent({ type: 'array', items, ...bounds }) };
}

function resultSchema(work: LinkWork, items: JsonSchema): JsonSchema {
  const count = (description: string): JsonSchema => ({ type: 'integer', minimum: 0, description });
  const properties: Readonly<Record<string, JsonSchema>> = {
    items: { type: 'array', items },
    added: count('Links that were not there before.'),
    ...(work === 'replace' ? { removed: count('Links that were removed.') } : {}),
  };
  return { type: 'object', properties, required: Object.keys(properties) };
}
