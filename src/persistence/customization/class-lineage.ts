/** The classes that a user has written for a model. */
import { Model as PlainModel } from 'sequelize';
import { Model } from 'sequelize-typescript';

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
