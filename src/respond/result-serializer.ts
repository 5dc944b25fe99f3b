/** Serializes the result of a method or an interceptor to JSON values, each record in it through its read schema. */
import type { ClassTransformOptions } from 'class-transformer';
import type { Class, ModelClass } from '../declare/crud-options.js';
import { describeRecords, introspectModel } from '../describe/describe-model.js';
import {
  declaredOptions,
  enter,
  isModel,
  isRecord,
  jsonFormOf,
  modelOf,
  type RecordInstance,
} from '../describe/record.js';
import { isTornRecord } from '../describe/sequelize-internals.js';
import { pristineRow } from '../execute/customization/hydrate-record.js';
import { refuseCopy } from '../schema/class-transformer-internals.js';
import { deriveReadClass } from '../schema/derive-class.js';
import { isStructured } from '../schema/json-value.js';
import { describeExposure, isHidden } from '../schema/model-decorators.js';
import { readSchema } from '../schema/model-schemas.js';
import { resultToPlain } from '../schema/read-through-class.js';
import { perPair } from '../util/memo.js';
import { type CompiledSerializer, compileSerializer, type NestedRecords } from './record-serializer.js';

/** Finds the serializer of a record by its model class. */
export type SerializerRegistry = Pick<ReadonlyMap<object, CompiledSerializer>, 'has' | 'get'>;

/**
 * Replaces the records in a result: alone, in arrays, and in the properties of objects. Left to itself,
 * `JSON.stringify` would write all their attributes, those that `@Exclude()` hides included.
 *
 * @throws TypeError where a record is inside itself, and for `{ ...record }`, which has all that Sequelize keeps in one
 */
export function serializeResult(result: unknown, serializers: SerializerRegistry): unknown {
  return holdsRecord(result, serializers) ? replaceRecords(result, serializers) : result;
}

/** Transforms a result by class-transformer. Getters and `@Transform`s in it may return more records. */
export function transformResult(
  result: object,
  options: ClassTransformOptions | undefined,
  serializers: SerializerRegistry,
): unknown {
  return resultToPlain(result, options, nestedRecords(serializers));
}

/** Views of records inside other values. The registry may be filled later. */
export function nestedRecords(serializers: SerializerRegistry): NestedRecords {
  return {
    serialize: (value) => serializeResult(value, serializers),
    show: (record, model) => showRecord(record, serializers, model),
    valuesFor(record, target) {
      const { readClass, values, model, restricted } = serializerFor(record, serializers);
      if (readClass === null || !extendsClass(target, readClass) || !values) return null;
      const shown = values(record);
      for (const name of maskOf(model, restricted)) delete shown[name];
      return shown;
    },
  };
}

/** The models that have rules of reading, and whose records a result holds, as far as that shows without code of the user's. */
export function ruledModels(result: unknown, serializers: SerializerRegistry): ReadonlySet<object> {
  const models = new Set<object>();
  for (const value of recordsIn(result, serializers)) {
    if (!isRecord(value) && isTornRecord(value)) continue;
    const { model, restricted } = serializerFor(value, serializers);
    if (restricted.length > 0) models.add(model);
  }
  return models;
}

/** Most results hold none, so that nothing is copied. */
function holdsRecord(root: unknown, serializers: SerializerRegistry): boolean {
  return recordsIn(root, serializers).next().done === false;
}

/** Iterative, because JSON of others may be deep. */
function* recordsIn(root: unknown, serializers: SerializerRegistry): Generator<object> {
  if (!isStructured(root)) return;
  const seen = new Set<object>();
  const pending: object[] = [root];
  for (let value = pending.pop(); value; value = pending.pop()) {
    const isBare = value.constructor === Object || Array.isArray(value);
    // Most of JSON is flat inside, and to note each object costs more than all else.
    if (isBare && !isTornRecord(value) && !holdsObject(value)) continue;
    if (seen.has(value)) continue;
    seen.add(value);
    const isOne = isShown(value, serializers);
    if (isOne) yield value;
    for (const part of isOne ? relationsOf(value) : partsOf(value))
      if (isStructured(part)) pending.push(part);
  }
}

/** True where any member is an object, or `toJSON` may return one. */
function holdsObject(value: object): boolean {
  if (Array.isArray(value)) return value.some(isStructured);
  for (const name in value) if (isStructured((value as Record<string, unknown>)[name])) return true;
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

/** Relations that were loaded with a record. A record that is as its row has nothing else beside its columns. */
function relationsOf(record: object): readonly unknown[] {
  const dataValues = pristineRow(record)?.relations ?? (record as { dataValues?: unknown }).dataValues;
  return typeof dataValues === 'object' && dataValues !== null ? Object.values(dataValues) : [];
}

function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isOpaque(value)) return [];
  const form = ownForm(value);
  return form && form.json !== value ? [form.json] : Object.values(value);
}

function isShown(value: object, serializers: SerializerRegistry): boolean {
  if (value.constructor === Object || Array.isArray(value)) return isTornRecord(value);
  return isRecord(value) || isTornRecord(value) || servedBy(value, serializers) !== undefined;
}

function replaceRecords(value: unknown, serializers: SerializerRegistry): unknown {
  if (typeof value !== 'object' || value === null || isOpaque(value)) return value;
  return enter(value, () => {
    if (isShown(value, serializers)) return showRecord(value, serializers);
    if (Array.isArray(value)) return value.map((item) => replaceRecords(item, serializers));
    const form = ownForm(value);
    if (!form || form.json === value) return replaceProperties(value, serializers);
    return holdsRecord(form.json, serializers) ? replaceRecords(form.json, serializers) : value;
  });
}

/** The object itself where no record is in it; else a copy of its class, because class-transformer reads that. */
function replaceProperties(value: object, serializers: SerializerRegistry): object {
  const entries = Object.entries(value).map(
    ([name, part]) => [name, part, replaceRecords(part, serializers)] as const,
  );
  if (entries.every(([, before, after]) => before === after)) return value;
  const copy: object = Object.create(Object.getPrototypeOf(value));
  for (const [name, , part] of entries) {
    Object.defineProperty(copy, name, { value: part, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

/** Dates, bytes and streams. */
function isOpaque(value: object): boolean {
  const { pipe } = value as { pipe?: unknown };
  return value instanceof Date || typeof pipe === 'function' || ArrayBuffer.isView(value);
}

/** Result of the value's own `toJSON`. */
function ownForm(value: object): { readonly json: unknown } | undefined {
  const { toJSON } = value as { toJSON?: unknown };
  return typeof toJSON === 'function' ? { json: toJSON.call(value, '') } : undefined;
}

function showRecord(record: object, serializers: SerializerRegistry, model?: object): object {
  if (!isRecord(record) && isTornRecord(record)) {
    throw new TypeError(
      'An answer holds { ...record }, which is all that Sequelize keeps; use record.get().',
    );
  }
  const serializer = serializerFor(record, serializers, model);
  const mask = maskOf(serializer.model, serializer.restricted);
  const shown = serializer.serialize(record, serializer.without(mask));
  if (!isRecord(record) || servedBy(record, serializers)) return shown;
  return { ...shown, ...furtherValues(record, modelOf(record), serializers) };
}

/** Relations and computed columns of a record that this application does not serve. */
function furtherValues(
  record: RecordInstance & { readonly dataValues?: Readonly<Record<string, unknown>> },
  model: ModelClass,
  serializers: SerializerRegistry,
): object {
  const attributes = model.getAttributes();
  if (declaredReadSchema(model)) return {};
  const form = jsonFormOf(record);
  const further = Object.entries(form ?? record.get()).filter(
    ([name]) => !Object.hasOwn(attributes, name) && !isHidden(model, name),
  );
  return Object.fromEntries(
    further.map(([name, value]) => {
      // A form has loaded records as plain objects, with all that they hold.
      const loaded = form && record.dataValues?.[name];
      const isLoaded = loaded && holdsRecord(loaded, serializers);
      return [name, serializeResult(isLoaded ? loaded : value, serializers)];
    }),
  );
}

function serializerFor(record: object, serializers: SerializerRegistry, model?: object): CompiledSerializer {
  const served = model ? serializers.get(model) : servedBy(record, serializers);
  if (served) return served;
  const owner = model ?? (isRecord(record) ? modelOf(record) : undefined);
  if (!isModel(owner)) throw new TypeError('A value of an answer is no record of a model.');
  return unservedBy(owner, serializers);
}

const unservedBy = perPair((model: ModelClass, serializers: SerializerRegistry | null) =>
  compileUnserved(model, serializers as SerializerRegistry),
);

/** By the model's `@Crud`, which another application may serve; else by the derived schema, with a primary key or without. */
function compileUnserved(model: ModelClass, serializers: SerializerRegistry): CompiledSerializer {
  refuseCopy(model);
  const info = describeRecords(model);
  const exposure = describeExposure(info, () => {});
  const deriveClass = (): Class =>
    introspectModel(model).info ? readSchema(model) : deriveReadClass(info, exposure);
  const explicit = declaredReadSchema(model);
  const { fields = {} } = declaredOptions(model) ?? {};
  const restricted = Object.entries(fields).flatMap(([name, rules]) =>
    rules?.read === undefined ? [] : name,
  );
  return compileSerializer({ info, exposure, restricted, explicit, deriveClass }, nestedRecords(serializers));
}

function declaredReadSchema(model: ModelClass): Class | null {
  const declared = declaredOptions(model)?.readSchema;
  return typeof declared === 'function' ? declared : null;
}

/** `Model.unscoped()` and `Model.scope()` are subclasses of the model, and their records are no less its own. */
function servedBy(result: object, serializers: SerializerRegistry): CompiledSerializer | undefined {
  let type: unknown = result.constructor;
  while (typeof type === 'function' && !serializers.has(type)) type = Object.getPrototypeOf(type);
  return typeof type === 'function' ? serializers.get(type) : undefined;
}

function extendsClass(target: Class, base: Class): boolean {
  return target === base || target.prototype instanceof (base as unknown as new () => object);
}

/** The attributes of a model that are left out; null where its rules are not evaluated. */
type RecordMasks = (model: object) => readonly string[] | null;

let current: RecordMasks | null = null;

/** Makes an answer, or a part of one, for a request that may not read everything. */
export function withMasks<T>(masks: RecordMasks, work: () => T): T {
  const before = current;
  current = masks;
  try {
    return work();
  } finally {
    current = before;
  }
}

/** The attributes of a model that are left out now. Where nothing says otherwise, none that has a rule leaves. */
function maskOf(model: object, restricted: readonly string[]): readonly string[] {
  return restricted.length === 0 ? restricted : (current?.(model) ?? restricted);
}
