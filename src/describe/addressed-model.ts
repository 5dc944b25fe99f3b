/** A model whose records other attributes address than its primary key, or in another order. */
import type { AttributeInfo, ModelInfo } from './model-info.js';

/** Describes the same model with these attributes as its address. */
export function makeAddressed(info: ModelInfo, named: readonly AttributeInfo[]): ModelInfo {
  const { primaryKey, attributes } = info;
  const isPrimary = named.length === primaryKey.length && named.every((each) => primaryKey.includes(each));
  if (isPrimary) {
    const isAsBefore = named.every((each, index) => each === primaryKey[index]);
    const address = isAsBefore ? primaryKey : Object.freeze([...named]);
    return Object.freeze({ ...info, primaryKey: address, address });
  }
  const address = Object.freeze(named.map((each) => asAddress(each, named.length > 1)));
  const changed = new Map(address.map((each) => [each.name, each]));
  return Object.freeze({
    ...info,
    address,
    // Where the model has no key, these attributes tell its rows apart.
    primaryKey: primaryKey.length > 0 ? primaryKey.map((each) => changed.get(each.name) ?? each) : address,
    attributes: new Map([...attributes].map(([name, each]) => [name, changed.get(name) ?? each])),
  });
}

function asAddress(attribute: AttributeInfo, isPart: boolean): AttributeInfo {
  // Its facts of the table are read by a getter.
  const members = {
    ...Object.getOwnPropertyDescriptors(attribute),
    isAddress: { value: true, enumerable: true },
    isPart: { value: isPart, enumerable: true },
  };
  return Object.freeze(Object.defineProperties({} as AttributeInfo, members));
}
