/** The classes that a user has written for a model. */
import { Model as PlainModel } from 'sequelize';
import { Model } from 'sequelize-typescript';
import type { ModelClass } from '../../declare/crud-options.js';
import { RECORD_FIELDS } from '../../describe/describe-model.js';

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

/** Methods of a model that replace Sequelize's, on its class and those that it extends. */
export interface OwnMethods {
  readonly statics: ReadonlySet<string>;
  /** Methods of its records; fields that are functions count, too. */
  readonly methods: ReadonlySet<string>;
  /** Also where it cannot be tried without values. */
  readonly hasConstructor: boolean;
}

const methodsOf = new WeakMap<object, OwnMethods>();

/** The methods of a model's own; looked at once. */
export function ownMethods(model: object): OwnMethods {
  const known = methodsOf.get(model);
  if (known) return known;
  const lineage = lineageOf(model);
  // A class with initialized fields has one, too, once it is compiled.
  const isWritten = lineage.some((each) => /\bconstructor\s*\(/.test(textOf(each)));
  const fields = isWritten ? [] : instanceFields(model);
  const own: OwnMethods = {
    statics: new Set(lineage.flatMap((each) => overridden(each, PlainModel))),
    methods: new Set([
      ...lineage.flatMap((each) => overridden(each.prototype, PlainModel.prototype)),
      ...(fields ?? []).filter((name) => name in PlainModel.prototype),
    ]),
    hasConstructor: isWritten || fields === null,
  };
  methodsOf.set(model, own);
  return own;
}

/** The functions of Sequelize's in whose place there are others. */
function overridden(own: object, base: object): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(own))
    .filter(([name, { value }]) => typeof value === 'function' && name in base && name !== 'constructor')
    .map(([name]) => name);
}

/** Names of the fields of instances, by class. */
const fieldNames = new WeakMap<object, readonly string[] | null>();

/** The fields that a class gives its instances beside Sequelize's; null where it throws without values. */
function instanceFields(model: object): readonly string[] | null {
  const known = fieldNames.get(model);
  if (known !== undefined) return known;
  const names = namesOfInstance(model);
  fieldNames.set(model, names);
  return names;
}

function namesOfInstance(model: object): readonly string[] | null {
  // As of a row that is there: defaults may be functions of the user's.
  const Constructor = model as new (values: object, options: { isNewRecord: false }) => object;
  try {
    const own = Reflect.ownKeys(new Constructor({}, { isNewRecord: false }));
    return own.filter((name) => !RECORD_FIELDS.has(name)).map(String);
  } catch {
    return null;
  }
}

/** True where instances have fields of the class, or private methods, which only its constructor adds. */
export function hasInstanceFields(model: ModelClass): boolean {
  return instanceFields(model)?.length !== 0 || lineageOf(model).some(hasPrivateMembers);
}

/** A `#` before a letter in a string or a comment counts, too: that costs time, and nothing else. */
function hasPrivateMembers(each: AnyClass): boolean {
  return /#[\p{ID_Start}$_\\]/u.test(textOf(each));
}
