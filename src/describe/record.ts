/** Records, the instances of Sequelize's models, wherever they turn up. */
import type { ModelClass } from '../declare/crud-options.js';

/** Members of a Sequelize instance; `get` reads getters, virtual attributes and loaded relations, too. */
export interface RecordInstance {
  readonly constructor: ModelClass;
  get(): Readonly<Record<string, unknown>>;
}

/** True where a value is a model class, of any copy of Sequelize. */
export function isModel(value: unknown): value is ModelClass {
  return typeof value === 'function' && 'getAttributes' in value && 'rawAttributes' in value;
}

/** True where an object is a record, of any copy of Sequelize. */
export function isRecord(value: object): value is RecordInstance {
  return isModel(value.constructor) && 'get' in value;
}

/** The model of a record. */
export function modelOf(record: RecordInstance): ModelClass {
  return ownModel(record.constructor);
}

/** The model itself. `Model.unscoped()` and `Model.scope()` make a subclass, which has no decorators of its own. */
export function ownModel(model: ModelClass): ModelClass {
  let own: ModelClass & { scoped?: boolean } = model;
  while (Object.hasOwn(own, 'scoped') && own.scoped) own = Object.getPrototypeOf(own);
  return own;
}

const open = new Set<object>();

/**
 * Does something with the content of a value, all of it synchronously.
 *
 * @throws TypeError when that leads to the same value again, which JSON has no form for
 */
export function enter<T>(value: object, work: () => T): T {
  if (open.has(value)) {
    throw new TypeError(`A ${value.constructor?.name || 'value'} of an answer is inside itself.`);
  }
  open.add(value);
  try {
    return work();
  } finally {
    open.delete(value);
  }
}
