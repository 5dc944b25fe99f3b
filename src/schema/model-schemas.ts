/** `readSchema`, `createSchema` and `updateSchema`: the derived classes of a model, made once. */
import type { ModelClass } from '../metadata/crud-options.js';
import type { ModelInfo } from '../model/model-info.js';
import { describeModel } from '../plan/describe-model.js';
import { type BodyKind, deriveBodyClass } from './derive-body-class.js';
import { deriveReadClass } from './derive-read-class.js';
import { describeExposure } from './model-decorators.js';
import type { SchemaClass } from './synthesize-class.js';

type SchemaKind = 'read' | BodyKind;

const schemas = new WeakMap<ModelClass, Partial<Record<SchemaKind, SchemaClass>>>();

/**
 * The class of a record as it leaves: every serializable attribute, without those that `@Exclude()` hides. Cached:
 * the same model gives the same class.
 *
 * @example
 * ```ts
 * const ArticleRead = readSchema(Article); // class ArticleRead
 * ```
 * @throws ConfigError when the model is not attached to a Sequelize instance, or has no single primary key
 */
export function readSchema(model: ModelClass): SchemaClass {
  return derived(model, 'read');
}

/**
 * The class of the body of a create: required attributes are required, nullable ones default to null, ones with a
 * default may be left out. The primary key, timestamps and the version are not part of it. Cached.
 *
 * @example
 * ```ts
 * const errors = await validate(plainToInstance(createSchema(Article), { title: 'Hello' }));
 * ```
 * @throws ConfigError when the model is not attached to a Sequelize instance, or has no single primary key
 */
export function createSchema(model: ModelClass): SchemaClass {
  return derived(model, 'create');
}

/**
 * The class of the body of an update: every writable attribute, optional. Null sets null where the column allows it
 * and is an error where it does not; an absent attribute is left alone (RFC 7396). Cached.
 *
 * @example
 * ```ts
 * const errors = await validate(plainToInstance(updateSchema(Article), { title: null })); // title must not be null
 * ```
 * @throws ConfigError when the model is not attached to a Sequelize instance, or has no single primary key
 */
export function updateSchema(model: ModelClass): SchemaClass {
  return derived(model, 'update');
}

function derived(model: ModelClass, kind: SchemaKind): SchemaClass {
  const known = schemas.get(model) ?? {};
  schemas.set(model, known);
  known[kind] ??= derive(describeModel(model), kind);
  return known[kind];
}

function derive(info: ModelInfo, kind: SchemaKind): SchemaClass {
  // What is wrong with the decorators is reported by the compile phase, with everything else.
  const exposure = describeExposure(info, () => {});
  return kind === 'read' ? deriveReadClass(info, exposure) : deriveBodyClass(info, exposure, kind);
}
