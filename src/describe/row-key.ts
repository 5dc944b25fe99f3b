/** Keys of rows, and the ids that their values make. */
import type { AttributeInfo, RowKey } from './model-info.js';

/** The attribute of a key that has one. @throws TypeError where it has none or several */
export function only(key: RowKey): AttributeInfo {
  const [first, second] = key;
  if (first && !second) return first;
  throw new TypeError(`A key of ${key.length} attributes is no single attribute.`);
}

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

/** The values of an id by attribute. */
export function valuesOfId(key: RowKey, id: unknown): Readonly<Record<string, unknown>> {
  const parts = partsOf(key, id);
  return Object.fromEntries(key.map(({ name }, index) => [name, parts[index]]));
}

/** The id of the values that the attributes of a key have: the value alone, or a frozen object of several. */
export function idOf(key: RowKey, read: (name: string) => unknown): unknown {
  if (key.length === 1) return read(only(key).name);
  return Object.freeze(Object.fromEntries(key.map(({ name }) => [name, read(name)])));
}
