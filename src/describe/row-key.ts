/** Keys of rows, and the ids that their values make. */
import { showValue } from '../util/option-problems.js';
import type { AttributeInfo, RowKey } from './model-info.js';

/** True where an attribute is a part of the key. */
export function isOfKey(key: RowKey, name: string): boolean {
  return key.some((part) => part.name === name);
}

/** The names of the attributes of a key. */
export function keyNames(key: RowKey): readonly string[] {
  return key.map(({ name }) => name);
}

/** The names of a key as messages have them: `orderId,lineNo` */
export function keyText(key: RowKey): string {
  return keyNames(key).join(',');
}

/** The values of an id, one for each attribute of the key. @throws TypeError where the key has several, and the id is no object of them */
export function partsOf(key: RowKey, id: unknown): readonly unknown[] {
  if (key.length === 1) return [id];
  const values = typeof id === 'object' && id !== null ? (id as Readonly<Record<string, unknown>>) : {};
  return key.map(({ name }) => {
    const value = values[name];
    if (value !== undefined && value !== null) return value;
    throw new TypeError(`An id of several attributes is an object of ${keyText(key)}; '${name}' is missing.`);
  });
}

/** Kinds of columns whose values are texts. */
const TEXTS: ReadonlySet<string> = new Set(['string', 'uuid', 'enum']);

/** Problem of a value in the place of an id of several attributes, as the end of a sentence; null where it has a value for each. */
export function problemOfParts(key: RowKey, id: unknown): string | null {
  const names = key.map(({ name }) => name);
  if (typeof id !== 'object' || id === null || Array.isArray(id)) return `it is ${showValue(id)}`;
  const values = id as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined) return `'${unknown}' is none of them`;
  for (const { name, type } of key) {
    const value = values[name];
    if (value === undefined) return `'${name}' is missing`;
    if (!isScalar(value)) return `'${name}' is ${showValue(value)}`;
    if (typeof value !== 'string' && TEXTS.has(type.kind))
      return `'${name}' is ${showValue(value)}, and its column holds texts`;
  }
  return null;
}

/** True for a value that one column holds: no list, and no words of Sequelize, which would find other rows, or NaN, which it writes as a name. */
export function isScalar(value: unknown): boolean {
  if (Number.isNaN(value)) return false;
  if (typeof value === 'object') return value instanceof Date || Buffer.isBuffer(value);
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

/** True for an attribute whose values are texts. */
export function holdsTexts({ type }: AttributeInfo): boolean {
  return TEXTS.has(type.kind);
}

/** The values of an id by attribute. */
export function valuesOfId(key: RowKey, id: unknown): Readonly<Record<string, unknown>> {
  const parts = partsOf(key, id);
  return Object.fromEntries(key.map(({ name }, index) => [name, parts[index]]));
}

/** True where ids are made of the texts of columns: a record has a moment without its microseconds. */
export function isOfTexts(key: RowKey): boolean {
  return key.length > 1 || key[0]?.type.kind === 'date';
}

/** The id of the values that the attributes of a key have: the value alone, or a frozen object of several. */
export function idOf(key: RowKey, read: (name: string) => unknown): unknown {
  const [first, second] = key;
  if (first && !second) return read(first.name);
  return Object.freeze(Object.fromEntries(key.map(({ name }) => [name, read(name)])));
}
