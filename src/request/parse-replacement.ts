/** The body of a PUT -> all that a request may set of a record: attributes that the body leaves out have their defaults. */

import { checkScopedValues } from '../access/reference-access.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { PreciseDate } from '../describe/exact-time.js';
import { type AttributeInfo, isFilled } from '../describe/model-info.js';
import { isOfKey, keyNames, partsOf } from '../describe/row-key.js';
import { defaultValues } from '../describe/sequelize-internals.js';
import { type Access, type AccessForm, allowsValue, closedAttributes } from '../operation/access.js';
import { type BodySchema, bodySchema, parseBody } from '../schema/body-schema.js';
import type { BodyValues } from '../schema/body-values.js';
import {
  bodyPointer,
  InvalidBodyError,
  invalidAttribute,
  type RequestIssue,
} from '../schema/request-issue.js';
import { without } from '../util/without.js';
import { constantDefault } from './constant-default.js';
import { exactText } from './query/rule-filters.js';

/** The schema of such a body: that of a create, with the key, which the path decides. */
export function replacementSchema(plan: ResourcePlan, form: AccessForm): BodySchema {
  const { address, primaryKey } = plan.info;
  const keys = keyNames([...address, ...primaryKey]);
  if (!plan.isKeyGiven) {
    return bodySchema(plan, 'create', new Set([...closedAttributes(form, 'update'), ...keys]));
  }
  const closed = new Set(closedAttributes(form, 'create'));
  // No write changes it.
  for (const { name } of primaryKey) if (!isOfKey(address, name)) closed.add(name);
  for (const { name } of address) if (form.scope.has(name) && !form.unwritable.has(name)) closed.delete(name);
  return bodySchema(plan, 'create', closed);
}

/**
 * The values of a record, without its key. An attribute that a request may not set is not among them: it stays as it is, and has its
 * default in a new record.
 *
 * @throws InvalidBodyError
 */
export async function parseReplacement(
  plan: ResourcePlan,
  schema: BodySchema,
  body: unknown,
  id: unknown,
  access: Access,
): Promise<BodyValues> {
  if (!plan.isKeyGiven) {
    const values = await parseBody(schema, body);
    checkScopedValues('update', values, access);
    return withDefaults(plan, schema, values);
  }
  const { address } = plan.info;
  const parts = partsOf(address, id);
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  // As a body has it, so that the checks of a new record's key run on it.
  const keys = address.map(({ name, type }, index) => [name, wireValue(type, parts[index])] as const);
  const given = isObject ? { ...Object.fromEntries(keys), ...body } : body;
  const values = await parseBody(schema, given);
  const scoped: string[] = [];
  for (const [index, { name, type }] of address.entries()) {
    if (textOf(type, values[name]) !== textOf(type, parts[index])) {
      throw invalidAttribute(name, 'key', `${name} is that of the path; leave it out, or send the same.`);
    }
    if (access.form.scope.get(name) !== 'one') continue;
    if (!allowsValue(access, name, parts[index])) {
      throw invalidAttribute(name, 'scope', `This request may not write records with this ${name}.`);
    }
    scoped.push(name);
  }
  checkScopedValues('create', without(values, scoped), access);
  return withDefaults(plan, schema, without(values, keyNames(address)));
}

/** A part of a key, as a body has it. */
function wireValue(type: AttributeInfo['type'], part: unknown): unknown {
  const { kind } = type;
  if (kind === 'integer' || kind === 'float') return Number(part);
  const text = textOf(type, part);
  return kind === 'boolean' ? text === 'true' : text;
}

/** A UUID may have large letters, and a moment more digits in the path than answers and bodies have. */
function textOf(type: AttributeInfo['type'], value: unknown): string | undefined {
  if (value instanceof PreciseDate && !Number.isNaN(value.getTime()) && type.kind === 'date' && !type.zone)
    return new Date(value.getTime()).toISOString();
  const text = exactText(type, value);
  return type.kind === 'uuid' ? text?.toLowerCase() : text;
}

/** @throws InvalidBodyError where a schema of the user's lets a value be absent that has no default */
function withDefaults({ info }: ResourcePlan, { properties }: BodySchema, values: BodyValues): BodyValues {
  const defaults = defaultValues(info.model);
  const whole = { ...values };
  const missing: RequestIssue[] = [];
  for (const attribute of info.attributes.values()) {
    const { name, type, role, nullable, isAddress } = attribute;
    if (!properties.has(name) || role === 'primaryKey' || isAddress || type.kind === 'virtual') continue;
    if (whole[name] !== undefined) continue;
    const value = defaults[name]?.();
    const own = value === undefined ? constantDefault(attribute) : value;
    if (own !== undefined) whole[name] = own;
    // A sequence of the table counts on in new rows only, and so do other values that it makes anew for each.
    else if (isFilled(attribute)) continue;
    else if (nullable) whole[name] = null;
    else missing.push({ pointer: bodyPointer(name), code: 'isDefined', detail: `${name} is required.` });
  }
  if (missing.length > 0) throw new InvalidBodyError(missing);
  return whole;
}
