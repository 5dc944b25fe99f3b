/** The classes that a user has written for a model. */
import { Model as PlainModel } from 'sequelize';
import { Model } from 'sequelize-typescript';
import type { ModelClass } from '../../metadata/crud-options.js';
import { RECORD_FIELDS } from '../../model/attribute-names.js';

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

/** What is known of classes. */
const instanceFields = new WeakMap<ModelClass, boolean>();

/** Whether the class gives its instances fields of its own, or private methods, which only its constructor can. */
export function hasInstanceFields(model: ModelClass): boolean {
  const known = instanceFields.get(model);
  if (known !== undefined) return known;
  // As of a row that is there: defaults may be functions of the user's.
  const Constructor = model as unknown as new (values: object, options: { isNewRecord: false }) => object;
  const own = Reflect.ownKeys(new Constructor({}, { isNewRecord: false }));
  const hasFields = own.some((name) => !RECORD_FIELDS.has(name));
  const isOwn = hasFields || lineageOf(model).some(hasPrivateMembers);
  instanceFields.set(model, isOwn);
  return isOwn;
}

/** A `#` before a letter in a string or a comment counts, too: that costs time, and nothing else. */
function hasPrivateMembers(each: AnyClass): boolean {
  return /#[\p{ID_Start}$_\\]/u.test(textOf(each));
}
