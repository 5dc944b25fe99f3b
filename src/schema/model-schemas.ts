/**
 * `readSchema`, `createSchema` and `updateSchema`: the derived classes of a model, made once. A model that is not attached to a
 * Sequelize instance has them, too, to be extended: they get their properties when they are first used.
 */

import type { Model } from 'sequelize';
import type { CreateValues, UpdateValues } from '../declare/attributes.js';
import type { ModelClass } from '../declare/crud-options.js';
import { describeModel, isAttached } from '../describe/describe-model.js';
import { isFilled, isGenerated } from '../describe/model-info.js';
import { foundInstead, isModelClass } from '../describe/record.js';
import { ConfigError } from '../util/config-error.js';
import { keptIn, perPair } from '../util/memo.js';
import { bodyProperty } from './body-json-schema.js';
import { finishClass, lazyClass, rememberProperties, type SchemaClass } from './class-properties.js';
import {
  readableAttributes,
  type SchemaKind,
  schemaName,
  shapeBodyClass,
  shapeReadClass,
  writableAttributes,
} from './derive-class.js';
import { describeExposure } from './model-decorators.js';
import { derivedProperty } from './read-property.js';

/** By the rules that the table adds to the model: the catalogue may be read when a class is there already. */
const schemasOf = perPair((_model: ModelClass) => new Map<string, SchemaClass>());

/** Origin of a derived class. */
export interface SchemaSource {
  readonly model: ModelClass;
  readonly kind: SchemaKind;
}

const sources = new WeakMap<object, SchemaSource>();

/** Origin of a class; undefined for one that is not derived from a model. */
export function schemaSource(target: object): SchemaSource | undefined {
  return sources.get(target);
}

/**
 * The class of a record as it leaves: every serializable attribute, without those that `@Exclude()` hides. Cached:
 * the same model has the same class.
 *
 * @example
 * ```ts
 * const ArticleRead = readSchema(Article); // class ArticleRead
 * ```
 * @throws ConfigError when it is no model class, or its attributes have names that mean something else
 */
export function readSchema(model: ModelClass): SchemaClass {
  return derived(model, 'read');
}

/**
 * The class of the body of a create: required attributes are required, nullable ones default to null, ones with a
 * default may be left out. The primary key, timestamps and the version are not part of it. Cached. Its instances are the values that
 * `create` of a repository takes.
 *
 * @example
 * ```ts
 * class ArticleForm extends createSchema(Article) {}
 *
 * @Post('/')
 * add(@Body() form: ArticleForm, @InjectRepository(Article) articles: Repository<Article>) {
 *   return articles.create(form);
 * }
 *
 * class SignUp extends createSchema(Customer) {
 *   @MinLength(12) password!: string;
 * }
 * const errors = await validate(plainToInstance(createSchema(Article), { title: 'Hello' }));
 * ```
 * @throws ConfigError when it is no model class, or its attributes have names that mean something else
 */
export function createSchema<M extends Model>(model: ModelClass<M>): SchemaClass<CreateValues<M>> {
  return derived(model as unknown as ModelClass, 'create') as SchemaClass<CreateValues<M>>;
}

/**
 * The class of the body of an update: every writable attribute, optional. Null sets null where the column allows it
 * and is an error where it does not; an absent attribute is left alone (RFC 7396). Cached.
 *
 * @example
 * ```ts
 * const errors = await validate(plainToInstance(updateSchema(Article), { title: null })); // title must not be null
 * ```
 * @throws ConfigError when it is no model class, or its attributes have names that mean something else
 */
export function updateSchema<M extends Model>(model: ModelClass<M>): SchemaClass<UpdateValues<M>> {
  return derived(model as unknown as ModelClass, 'update') as SchemaClass<UpdateValues<M>>;
}

function derived(model: ModelClass, kind: SchemaKind): SchemaClass {
  if (!isModelClass(model))
    throw new ConfigError([`${kind}Schema expects a model class; got ${foundInstead(model)}.`]);
  const key = `${kind} ${isAttached(model) && kind !== 'read' ? tableShare(model) : ''}`;
  const found = keptIn(schemasOf(model), key, () =>
    lazyClass(schemaName(model, kind), (target) => shape(model, kind, target)),
  );
  sources.set(found, { model, kind });
  if (isAttached(model)) finishClass(found);
  return found;
}

/** The attributes that a body may leave out, or must, because of their table. */
function tableShare(model: ModelClass): string {
  const { attributes } = describeModel(model);
  const share = [...attributes.values()].filter(
    (each) => isGenerated(each) || isFilled(each) !== each.hasDefault,
  );
  return share.map((each) => `${isGenerated(each) ? '-' : '+'}${each.name}`).join();
}

function shape(model: ModelClass, kind: SchemaKind, target: SchemaClass) {
  const info = describeModel(model);
  // Where the class was there before the model had its last name.
  Object.defineProperty(target, 'name', { value: schemaName(info, kind) });
  // Problems of the decorators are reported by the compile phase, with all others.
  const exposure = describeExposure(info, () => {});
  if (kind === 'read') {
    rememberProperties(target, 'read', () => {
      const attributes = readableAttributes(info, exposure);
      return new Map(attributes.map(({ name }) => [name, derivedProperty(info, name)]));
    });
    return shapeReadClass(info, exposure)(target);
  }
  rememberProperties(target, 'write', () => {
    const attributes = writableAttributes(info, exposure, kind);
    return new Map(attributes.map((each) => [each.name, bodyProperty(info, each, kind)]));
  });
  return shapeBodyClass(info, exposure, kind)(target);
}
