/** The attribute that counts the changes of a row where `etag` of `@Crud` names it: the version of a model without the option `version`. */
import type { ModelClass } from '../declare/crud-options.js';
import { timestampsOf, versionOf } from './model-info.js';
import { declaredOptions } from './record.js';
import { countByAttribute } from './sequelize-internals.js';

/** A lock column. */
export interface LockColumn {
  readonly attribute: string;
  /** `database` where a trigger counts, and no statement of this package writes the column. */
  readonly by: 'us' | 'database';
}

/** Mark of the options of models whose version is that of the option. A second copy of the package reads it, too. */
const COUNTED = Symbol.for('crud-controllers:counted');

function isCounted({ options }: ModelClass): boolean {
  return Object.hasOwn(options, COUNTED);
}

/** The lock column of a model; null where it has none, or the option is wrong. */
export function lockOf(model: ModelClass): LockColumn | null {
  const etag: unknown = declaredOptions(model)?.etag;
  const { attribute, by = 'us' } = Object(etag) as Readonly<Record<string, unknown>>;
  if (typeof attribute !== 'string' || (by !== 'us' && by !== 'database')) return null;
  const isFree =
    Object.hasOwn(model.getAttributes(), attribute) &&
    !model.primaryKeyAttributes.includes(attribute) &&
    !Object.values(timestampsOf(model)).includes(attribute);
  return isFree && ownVersionOf(model) === undefined ? { attribute, by } : null;
}

/** The attribute of the model's own option `version`. */
export function ownVersionOf(model: ModelClass): string | undefined {
  return isCounted(model) ? undefined : versionOf(model);
}

/**
 * Makes Sequelize count a lock column, as it counts the version of a model with the option `version`. A `save()` that does not count
 * would leave the tag of a row as it was.
 */
export function countLock(model: ModelClass, { attribute, by }: LockColumn): void {
  if (by === 'database' || isCounted(model)) return;
  countByAttribute(model, attribute);
  Object.defineProperty(model.options, COUNTED, { value: true });
}
