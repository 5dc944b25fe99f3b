/** Relations by keys of several columns, which no association of Sequelize has. */
import type { Model } from 'sequelize';
import { ConfigError } from '../util/config-error.js';
import { showValue } from '../util/option-problems.js';
import { standardDecorator } from './crud.js';
import type { ModelClass } from './crud-options.js';

/** Attributes of this model, and the attributes of the other model with the same values. */
export type KeyPairs = Readonly<Record<string, string>>;

/** Finds the other model when it is first needed: both files may import each other. */
type TargetGetter = () => abstract new () => Model;

/** A relation that a decorator has declared. */
export interface KeyRelation {
  readonly name: string;
  readonly isOne: boolean;
  readonly target: TargetGetter;
  readonly keys: KeyPairs;
}

/**
 * The record that several attributes of this one refer to together, for foreign keys of several columns. It is included, filtered, sorted and
 * listed as an association is. Sequelize does not know of it: its own `include` and getters refuse the name. Where one of the attributes is NULL,
 * there is no such record, as PostgreSQL has it (`MATCH SIMPLE`).
 *
 * @param target the other model
 * @param keys two pairs at least: attributes of this model, and those of the other one with the same values, over which it has a unique index
 * @example
 * ```ts
 * @BelongsToKey(() => Line, { orderId: 'orderId', lineNo: 'lineNo' })
 * declare line: Line | null;
 * ```
 * @throws ConfigError for arguments of other types. An attribute that does not exist is reported by `bootstrap`
 */
export function BelongsToKey(target: TargetGetter, keys: KeyPairs) {
  return keyRelation('BelongsToKey', true, target, keys);
}

/**
 * The records whose attributes refer to this one together: the other side of `@BelongsToKey`.
 *
 * @param target the other model
 * @param keys two pairs at least: attributes of this model, and those of the other one with the same values
 * @example
 * ```ts
 * @HasManyKey(() => Note, { orderId: 'orderId', lineNo: 'lineNo' })
 * declare notes: Note[];
 * ```
 * @throws ConfigError for arguments of other types. An attribute that does not exist is reported by `bootstrap`
 */
export function HasManyKey(target: TargetGetter, keys: KeyPairs) {
  return keyRelation('HasManyKey', false, target, keys);
}

// By name, so that a second copy of the package finds them.
const RELATIONS = Symbol.for('crud-controllers:key-relations:v1');

interface Declaring {
  [RELATIONS]?: readonly KeyRelation[];
}

function keyRelation(decorator: string, isOne: boolean, target: TargetGetter, keys: KeyPairs) {
  return (prototype: object, name: string | symbol): void => {
    if (typeof name !== 'string') throw new ConfigError([standardDecorator(`@${decorator}`)]);
    const place = `@${decorator} of ${prototype.constructor.name}.${name}`;
    if (typeof target !== 'function')
      throw new ConfigError([`${place} has ${showValue(target)}; use a function: () => Line.`]);
    const isPairs =
      typeof keys === 'object' &&
      keys !== null &&
      Object.keys(keys).length > 1 &&
      Object.values(keys).every((each) => typeof each === 'string');
    if (!isPairs)
      throw new ConfigError([
        `${place} has the keys ${showValue(keys)}; use two pairs of attributes or more: { orderId: 'orderId', lineNo: 'lineNo' }. ` +
          'A key of one attribute is an association of Sequelize.',
      ]);
    const declaring = prototype as Declaring;
    const relation = Object.freeze({ name, isOne, target, keys: Object.freeze({ ...keys }) });
    // A class that extends another one has a list of its own.
    Object.defineProperty(declaring, RELATIONS, {
      configurable: true,
      value: Object.freeze([...(declaring[RELATIONS] ?? []), relation]),
    });
  };
}

/** The relations that decorators of a model have declared. */
export function keyRelationsOf(model: ModelClass): readonly KeyRelation[] {
  return (model.prototype as Declaring | undefined)?.[RELATIONS] ?? [];
}
