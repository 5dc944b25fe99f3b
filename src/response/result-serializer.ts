/** What a hand-written route returns -> JSON values, with every record in it through its read schema. */
import { isHidden } from '../schema/model-decorators.js';
import type { RecordSerializer } from './record-serializer.js';

/** Finds the serializer of a record by its model class. */
export type SerializerRegistry = ReadonlyMap<object, RecordSerializer>;

/** What a Sequelize instance has; `get` knows getters, virtual attributes and loaded relations. */
interface UnservedRecord {
  readonly constructor: object;
  get(): Readonly<Record<string, unknown>>;
}

/**
 * Replaces the records in a result: alone, in arrays, and in the properties of objects. Left to itself,
 * `JSON.stringify` would write all their attributes, those that `@Exclude()` hides included.
 */
export function serializeResult(result: unknown, serializers: SerializerRegistry): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const serialize = serializerOf(result, serializers);
  if (serialize) return serialize(result);
  if (isRecord(result)) return serializeUnserved(result, serializers);
  if (Array.isArray(result)) {
    const items = result.map((item) => serializeResult(item, serializers));
    return items.every((item, index) => item === result[index]) ? result : items;
  }
  return hasOwnForm(result) ? result : replaceRecords(result, serializers);
}

/** `Model.unscoped()` and `Model.scope()` are subclasses of the model, and their records are no less its own. */
function serializerOf(result: object, serializers: SerializerRegistry): RecordSerializer | undefined {
  let type: unknown = result.constructor;
  while (typeof type === 'function' && !serializers.has(type)) type = Object.getPrototypeOf(type);
  return typeof type === 'function' ? serializers.get(type) : undefined;
}

function isRecord(value: object): value is UnservedRecord {
  return typeof value.constructor === 'function' && 'getAttributes' in value.constructor && 'get' in value;
}

/** A record of a model that this application does not serve. */
function serializeUnserved(record: UnservedRecord, serializers: SerializerRegistry): object {
  const shown = Object.entries(record.get()).filter(([name]) => !isHidden(record.constructor, name));
  return Object.fromEntries(shown.map(([name, value]) => [name, serializeResult(value, serializers)]));
}

/** Dates, bytes, streams, and what says itself how it is written. */
function hasOwnForm(value: object): boolean {
  const { toJSON, pipe } = value as { toJSON?: unknown; pipe?: unknown };
  return typeof toJSON === 'function' || typeof pipe === 'function' || ArrayBuffer.isView(value);
}

/** The object itself where no record is in it; else a copy of its class, because class-transformer looks at that. */
function replaceRecords(value: object, serializers: SerializerRegistry): object {
  const entries = Object.entries(value).map(
    ([name, part]) => [name, part, serializeResult(part, serializers)] as const,
  );
  if (entries.every(([, before, after]) => before === after)) return value;
  const copy: object = Object.create(Object.getPrototypeOf(value));
  for (const [name, , part] of entries) {
    Object.defineProperty(copy, name, { value: part, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}
