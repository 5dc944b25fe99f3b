/** A value that a user gives in the place of a model. Types cannot help where modules import each other in a circle. */
import type { ModelClass } from '../declare/crud-options.js';

/** True for a model class, attached to a Sequelize instance or not. */
export function isModelClass(value: unknown): value is ModelClass {
  return typeof value === 'function' && 'getTableName' in value;
}

/** Declaration that makes a class a model, as the end of a sentence. */
export const EXTENDS_MODEL = "extends Model, with import { Model } from 'sequelize-typescript'";

/** Description of a value in the place of a model, as the end of a sentence. */
export function foundInstead(value: unknown): string {
  if (typeof value === 'function') return `the class ${value.name}`;
  return value === undefined
    ? 'undefined, which a class is as long as a circular import loads it'
    : String(value);
}
