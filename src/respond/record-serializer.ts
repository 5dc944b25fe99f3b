/** Records -> plain objects as they leave, through the resource's read schema. */

import { type Exposure, type ResourcePlan, restrictedNames } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import { customAttributes, hasGetter, type RecordInfo } from '../describe/model-info.js';
import { hasJsonForm, jsonFormOf } from '../describe/record.js';
import { classProperties, shownName } from '../schema/class-properties.js';
import { readableAttributes } from '../schema/derive-class.js';
import {
  holdsUnsafeKey,
  isPlainJson,
  isSafePlainJson,
  isStructured,
  withoutUnsafeKeys,
} from '../schema/json-value.js';
import { hasType, isTransformed, shapesValue } from '../schema/model-decorators.js';
import { readSchema } from '../schema/model-schemas.js';
import { type RecordViews, readThroughClass } from '../schema/read-through-class.js';
import { perPair } from '../util/memo.js';
import { ownFormat, wireFormat } from './wire-format.js';

/** A record as JSON has it. */
export type WireRecord = Record<string, unknown>;

/**
 * Turns a Sequelize instance, or a plain object with the same properties, into the values that leave: all properties of the read
 * schema, or only `fields` of them.
 */
export type RecordSerializer = (record: object, fields?: readonly string[] | null) => WireRecord;

/** A serializer with its parts, for the classes that extend its read schema. */
export interface CompiledSerializer {
  readonly serialize: RecordSerializer;
  /** The values that the read schema makes its answers of; null where it makes nothing of them. */
  readonly values: ((record: object) => WireRecord) | null;
  readonly readClass: Class | null;
  /** The properties of an answer without some attributes; null is all properties. The same for the same object. */
  without(mask: readonly string[]): readonly string[] | null;
  readonly model: object;
  /** Attributes that not every request may read. */
  readonly restricted: readonly string[];
}

/** Facts of a model whose records are shown, served or not. */
interface RecordPlan {
  readonly info: RecordInfo;
  readonly exposure: Pick<Exposure, 'unreadable'>;
  /** Attributes that not every request may read. */
  readonly restricted: readonly string[];
  /** The user's read schema. */
  readonly explicit: Class | null;
  deriveClass(): Class;
}

/** Views of the records inside a record. */
export interface NestedRecords extends RecordViews {
  /** A value with all the records in it as they leave. */
  serialize(value: unknown): unknown;
}

/** Method of a Sequelize instance that reads getters and virtual attributes. */
interface Gettable {
  get(name: string): unknown;
}

/** The properties of a resource's answers, under the names that leave. */
export function readableProperties(plan: ResourcePlan): readonly string[] {
  const explicit = plan.explicitSchemas.read;
  const names = sourceNames(recordPlan(plan));
  return Object.freeze(explicit ? names.map((name) => shownName(explicit, name)) : names);
}

/** Part of a resource's plan that decides the form of its records. */
export function recordPlan({ info, exposure, model, explicitSchemas, access }: ResourcePlan): RecordPlan {
  const restricted = Object.freeze([...restrictedNames(access)]);
  return { info, exposure, restricted, explicit: explicitSchemas.read, deriveClass: () => readSchema(model) };
}

/** The properties of the read schema: those of the user's class where there is one, else the readable attributes. */
function sourceNames({ info, exposure, explicit }: RecordPlan): string[] {
  if (explicit) return [...classProperties(explicit, 'read')];
  return readableAttributes(info, exposure).map(({ name }) => name);
}

/** Compiles the serializer of a model's records. Only the properties of the read schema ever leave. */
export function compileSerializer(plan: RecordPlan, nested: NestedRecords): CompiledSerializer {
  const names = sourceNames(plan);
  const isShaped = names.some((name) => isTransformed(plan.info.model, name, 'read'));
  const shared = { model: plan.info.model, restricted: plan.restricted, without: choices(plan, names) };
  if (!plan.explicit && !isShaped) {
    return { serialize: ofForm(direct(plan, nested)), values: null, readClass: null, ...shared };
  }
  const readClass = plan.explicit ?? plan.deriveClass();
  return {
    serialize: ofForm(throughClass(plan, readClass, names, nested)),
    values: (record) => withTextForBytes(pick(jsonFormOf(record) ?? record, names), readClass),
    readClass,
    ...shared,
  };
}

/** The values of a record that has a JSON form of its own are those of the form. */
function ofForm(serialize: RecordSerializer): RecordSerializer {
  return (record, fields) => serialize(jsonFormOf(record) ?? record, fields);
}

function choices({ explicit }: RecordPlan, names: readonly string[]): CompiledSerializer['without'] {
  const choose = perPair((mask: readonly string[]) =>
    names.filter((name) => !mask.includes(name)).map((name) => (explicit ? shownName(explicit, name) : name)),
  );
  return (mask) => (mask.length === 0 ? null : choose(mask));
}

/** Writes bytes as text. Other values that no class shapes are unchanged, because JSON has a form for them. */
function withTextForBytes(values: WireRecord, readClass: Class): WireRecord {
  for (const [name, value] of Object.entries(values)) {
    if (value instanceof Uint8Array && !shapesValue(readClass, name)) values[name] = ownFormat(value);
  }
  return values;
}

/** The usual case: nothing of the user's is between the record and JSON. */
function direct({ info, exposure }: RecordPlan, nested: NestedRecords): RecordSerializer {
  const columns = readableAttributes(info, exposure).map(({ name, type }) => ({
    name,
    toWire: wireFormat(type),
  }));
  return (record, fields) => {
    const shown: WireRecord = {};
    for (const { name, toWire } of columns) {
      if (fields && !fields.includes(name)) continue;
      const value = read(record, name);
      if (value !== undefined) shown[name] = wholeValue(toWire(value), nested);
    }
    return shown;
  };
}

/** A getter, or an override that returns plain objects, can put a record anywhere. */
function wholeValue(value: unknown, nested: NestedRecords): unknown {
  return typeof value === 'object' && value !== null ? nested.serialize(value) : value;
}

/** The user's own class, or his `@Transform`s: class-transformer executes them on the record's values. */
function throughClass(
  plan: RecordPlan,
  schema: Class,
  names: readonly string[],
  nested: NestedRecords,
): RecordSerializer {
  const shownNames = names.map((name) => shownName(schema, name));
  const { attributes } = plan.info;
  const formats = new Map(
    names.map((name) => {
      const type = shapesValue(schema, name) ? undefined : attributes.get(name)?.type;
      return [shownName(schema, name), type ? wireFormat(type) : ownFormat];
    }),
  );
  // The class may read more than it shows: a getter on it can combine attributes of the record.
  const sources = [...new Set([...names, ...attributes.keys()])];
  // An array costs class-transformer as much for each item as an object does for each key.
  const jsonNames = sources.filter((name) =>
    ['json', 'array'].includes(attributes.get(name)?.type.kind ?? ''),
  );
  const asIs = jsonNames.filter((name) => names.includes(name) && !shapesValue(schema, name));
  const untyped = new Set(jsonNames.filter((name) => !hasType(schema, name)));
  return (record, fields) => {
    const values = pick(record, sources);
    const safe = { ...values };
    const plain: object[] = [];
    for (const name of jsonNames) {
      if (isSafePlainJson(values[name])) {
        if (isStructured(values[name]) && untyped.has(name)) plain.push(values[name]);
        continue;
      }
      // The value of such a column is passed around class-transformer, so nothing in it is a record any more.
      if (name in values) safe[name] = values[name] = wholeValue(values[name], nested);
      // Others write to the table too, and class-transformer takes an own `constructor` for the class of a value.
      if (holdsUnsafeKey(values[name])) safe[name] = withoutUnsafeKeys(values[name]);
      const value = safe[name];
      if (untyped.has(name) && isStructured(value) && isPlainJson(value)) plain.push(value);
    }
    const shown: WireRecord = { ...readThroughClass(schema, safe, nested, plain) };
    // class-transformer drops keys such as `toString` from JSON on the way.
    for (const name of asIs)
      if (shownName(schema, name) in shown) shown[shownName(schema, name)] = values[name];
    const picked = pick(shown, fields ?? shownNames);
    for (const [name, toWire] of formats) if (name in picked) picked[name] = toWire(picked[name]);
    return picked;
  };
}

/** The properties that the record has; one that a partial record lacks is left out. */
function pick(record: object, names: readonly string[]): WireRecord {
  const picked: WireRecord = {};
  for (const name of names) {
    const value = read(record, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

function read(record: object, name: string): unknown {
  const isInstance = typeof (record as Partial<Gettable>).get === 'function';
  return isInstance ? (record as Gettable).get(name) : (record as WireRecord)[name];
}

/**
 * Attributes that are hidden, and those whose values code of the user's replaces. A write of them counts as a
 * change. Otherwise the version or the moment of a change would reveal that the stored value is the one that was sent.
 */
export function unseenAttributes({
  info,
  model,
  exposure,
  explicitSchemas,
}: Pick<ResourcePlan, 'info' | 'model' | 'exposure' | 'explicitSchemas'>): ReadonlySet<string> {
  const { read } = explicitSchemas;
  const properties = read && classProperties(read, 'read');
  const isShown = (name: string): boolean => {
    if (hasGetter(model, name)) return false;
    if (!read) return !exposure.unreadable.has(name) && !isTransformed(info.model, name, 'read');
    return properties?.has(name) === true && !shapesValue(read, name) && !(name in Object(read.prototype));
  };
  const names = [...info.attributes.keys()];
  return new Set(hasJsonForm(model) ? names : names.filter((name) => !isShown(name)));
}

/** True where code of the user's makes a property of answers, for which it may read any attribute of the record. */
export function computesProperties(plan: ResourcePlan): boolean {
  const { info, model, explicitSchemas } = plan;
  const { read } = explicitSchemas;
  const getters = customAttributes(model, 'get');
  const isComputed = (name: string): boolean => {
    const attribute = info.attributes.get(name);
    if (attribute?.isIdText) return false;
    if (!attribute || attribute.type.kind === 'virtual' || getters.has(name)) return true;
    if (!read) return isTransformed(model, name, 'read');
    const isShaped = isTransformed(read, name, 'read') || isTransformed(read, name, 'write');
    return isShaped || name in Object(read.prototype);
  };
  return hasJsonForm(model) || sourceNames(recordPlan(plan)).some(isComputed);
}
