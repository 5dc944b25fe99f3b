/** The classes that a user has written for a model. */
import { Model as PlainModel } from 'sequelize';
import { Model } from 'sequelize-typescript';
import type { ModelClass } from '../../metadata/crud-options.js';

const BASES: ReadonlySet<unknown> = new Set([PlainModel, Model]);

/** A class, as far as it is looked at. */
export type AnyClass = abstract new () => object;

/** The model's class and those it extends, without Sequelize's. */
export function lineageOf(model: object): AnyClass[] {
  const lineage: AnyClass[] = [];
  let each = model;
  while (typeof each === 'function' && each !== Function.prototype && !BASES.has(each)) {
    lineage.push(each as AnyClass);
    each = Object.getPrototypeOf(each);
  }
  return lineage;
}

/** A class as it is written: some of what it has can be seen nowhere else. */
export function textOf(each: AnyClass): string {
  return Function.prototype.toString.call(each);
}

/** What Sequelize's own constructor puts into an instance. */
const OWN_PROPERTIES: ReadonlySet<string | symbol> = new Set([
  'dataValues',
  '_previousDataValues',
  'uniqno',
  '_changed',
  '_options',
  'isNewRecord',
]);

/** What is known of classes. */
const instanceFields = new WeakMap<ModelClass, boolean>();

/** Whether the class gives its instances fields of its own, or private methods, which only its constructor can. */
export function hasInstanceFields(model: ModelClass): boolean {
  const known = instanceFields.get(model);
  if (known !== undefined) return known;
  const hasFields = Reflect.ownKeys(new model()).some((name) => !OWN_PROPERTIES.has(name));
  const isOwn = hasFields || lineageOf(model).some(hasPrivateMembers);
  instanceFields.set(model, isOwn);
  return isOwn;
}

/** A `#` before a letter in a string or a comment counts, too: that costs time, and nothing else. */
function hasPrivateMembers(each: AnyClass): boolean {
  return /#[\p{ID_Start}$_\\]/u.test(textOf(each));
}
