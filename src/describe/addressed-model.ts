/** The option `id`: a model whose records other attributes address than its primary key, or in another order, and the member with their id. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../declare/crud-options.js';
import { showValue } from '../util/option-problems.js';
import { idText } from './id-text.js';
import type { AttributeInfo, ModelInfo, RowKey } from './model-info.js';
import { declaredOptions } from './record.js';
import { idOf } from './row-key.js';
import { addVirtual } from './sequelize-internals.js';

/** The option `id`, taken apart and unchecked. */
interface NamedId {
  readonly attributes: unknown;
  readonly member?: unknown;
}

/** Takes the option apart: an object has the attributes and a member, anything else is the attributes. */
export function splitId(id: unknown): NamedId {
  if (typeof id !== 'object' || id === null || Array.isArray(id)) return { attributes: id };
  return id as NamedId;
}

const MEMBER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Marks the getters of members with the text of an id. A second copy of the package reads it, too. */
const ID_TEXT = Symbol.for('crud-controllers:idText');

/** True for an attribute that `addIdText` has added. */
export function isIdText(options: { readonly get?: unknown }): boolean {
  return Object.hasOwn(Object(options.get), ID_TEXT);
}

/** Adds the member that the option `id` of a model names, once. One that has another meaning in the model is left as it is. */
export function addIdText(model: ModelClass, attributesOf: () => ReadonlyMap<string, AttributeInfo>): void {
  const { attributes, member } = splitId(declaredOptions(model)?.id);
  if (typeof member !== 'string' || !MEMBER.test(member)) return;
  const isColumn = Object.values(model.getAttributes()).some(({ field }) => field === member);
  if (isColumn || member in model.prototype || Object.hasOwn(model.associations, member)) return;
  const names = [attributes].flat().map(String);
  function get(this: Model): string | null {
    const key = names.map((name) => attributesOf().get(name) as AttributeInfo);
    return idText(
      key,
      idOf(key, (name) => this.getDataValue(name)),
    );
  }
  addVirtual(model, member, Object.assign(get, { [ID_TEXT]: true }));
}

/** The problem of the member that an id names; null where there is none. */
export function memberProblem({ attributes }: ModelInfo, id: unknown, key: RowKey): string | null {
  const { attributes: _, member, ...others } = splitId(id);
  const [other] = Object.keys(others);
  if (other !== undefined) return `has no '${other}'; use attributes and member.`;
  if (member === undefined) return null;
  if (typeof member !== 'string' || !MEMBER.test(member))
    return `has the member ${showValue(member)}; use a name of letters, digits and '_', such as 'id'.`;
  if (!attributes.get(member)?.isIdText)
    return `has the member '${member}', which the model has already, or which @Crud of the model does not name; use another name, or name it there.`;
  const moment = key.find(({ type }) => type.kind === 'date');
  return moment
    ? `has the member '${member}', and '${moment.name}' may have more digits than records have of it; leave the member out.`
    : null;
}

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
    // Where the model has no key, these attributes identify its rows.
    primaryKey: primaryKey.length > 0 ? primaryKey.map((each) => changed.get(each.name) ?? each) : address,
    attributes: new Map([...attributes].map(([name, each]) => [name, changed.get(name) ?? each])),
  });
}

function asAddress(attribute: AttributeInfo, isPart: boolean): AttributeInfo {
  // The facts of its table are read by a getter.
  const members = {
    ...Object.getOwnPropertyDescriptors(attribute),
    isAddress: { value: true, enumerable: true },
    isPart: { value: isPart, enumerable: true },
  };
  return Object.freeze(Object.defineProperties({} as AttributeInfo, members));
}
