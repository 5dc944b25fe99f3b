/** Children in the document: members of bodies, and of the records that are answered. */

import { recordJsonSchema } from '../../respond/record-json-schema.js';
import { bodyJsonSchema } from '../../schema/body-json-schema.js';
import type { JsonSchema } from '../../schema/json-schema.js';
import { type Form, isTaken, type NestedLevel } from './nested-options.js';

type Properties = Readonly<Record<string, JsonSchema>>;

/** Describes the children of all relations. */
export function describeMembers(
  levels: ReadonlyMap<string, NestedLevel>,
  form: Form,
): Readonly<Record<'body' | 'answer', Properties>> {
  const taken = [...levels.values()].filter((level) => isTaken(level, form));
  return {
    body: Object.fromEntries(taken.map((level) => [level.name, bodySchemaOf(level, form)])),
    answer: Object.fromEntries(taken.map((level) => [level.name, answerSchemaOf(level)])),
  };
}

/** Schema of the children in an answer. */
function answerSchemaOf({ name, plan: { target, relation }, max, nested }: NestedLevel): JsonSchema {
  const { properties, ...others } = recordJsonSchema(target);
  const inner = [...nested.values()].map((level) => [level.name, answerSchemaOf(level)] as const);
  const record = { ...others, properties: { ...properties, ...Object.fromEntries(inner) } };
  const description = `Only where the request names \`${name}\`.`;
  if (relation.isOne) return { description, anyOf: [record, { type: 'null' }] };
  return {
    description,
    type: 'object',
    properties: {
      items: { type: 'array', items: record, maxItems: max },
      has_next: { type: 'boolean', description: 'Whether there are others.' },
    },
    required: ['items', 'has_next'],
  };
}

/** Schema of a member of a body. */
function bodySchemaOf(
  { plan, given, max, nested, verbs, isWhole, name }: NestedLevel,
  form: Form,
): JsonSchema {
  const { target, relation } = plan;
  const { isOne } = relation;
  const listOf = (items: JsonSchema): JsonSchema => (isOne ? items : { type: 'array', items, maxItems: max });
  const inner = (kind: Form) => (nested.size === 0 ? {} : describeMembers(nested, kind).body);
  const ids = target.idParts.map(({ attribute }) => attribute.name).filter((key) => key !== given);
  const id: JsonSchema = { type: ['string', 'number'] };
  const known = Object.fromEntries(ids.map((key) => [key, id]));
  const version =
    target.entityTag?.kind === 'version' && !target.entityTag.isHidden ? target.entityTag.attribute : null;
  const state: Properties = version === null ? {} : { [version]: { type: 'integer', minimum: 0 } };
  const valuesOf = (
    kind: 'create' | 'update',
    more: Readonly<Record<string, JsonSchema>>,
    kindOfMore: Form,
  ) => {
    const { properties = {}, required = [], ...others } = bodyJsonSchema(target, kind);
    const { [given]: _, ...own } = properties;
    const needed = [
      ...required.filter((key) => key !== given),
      ...(kind === 'update' ? Object.keys(known) : []),
    ];
    return {
      ...others,
      type: 'object',
      properties: { ...more, ...own, ...inner(kindOfMore) },
      ...(needed.length > 0 ? { required: needed } : {}),
    } satisfies JsonSchema;
  };
  const created = valuesOf('create', {}, 'create');
  const whole = form === 'replace' && isWhole;
  const updated = valuesOf('update', { ...known, ...state }, whole ? 'replace' : 'update');
  if (form === 'create') return { description: `New ${name} of the record.`, ...listOf(created) };
  if (whole)
    return {
      description: `All ${name} of the record: one with an id is changed, another is created, and what is left out is deleted.`,
      ...listOf({ anyOf: [updated, created] }),
    };
  const named: JsonSchema = {
    type: 'object',
    properties: { ...known, ...state },
    required: ids,
    additionalProperties: false,
  };
  const removed = ids.length === 1 ? { anyOf: [id, named] } : named;
  const parts = { create: created, update: updated, delete: removed };
  return {
    description: `Changes of ${name}. What is not named stays as it is.`,
    type: 'object',
    properties: Object.fromEntries(
      (['create', 'update', 'delete'] as const)
        .filter((verb) => verbs.has(verb))
        .map((verb) => [verb, listOf(parts[verb])]),
    ),
    additionalProperties: false,
  };
}
