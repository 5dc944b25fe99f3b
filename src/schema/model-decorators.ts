/**
 * The class-validator and class-transformer decorators that a user put on a model's attributes, read from the storages
 * of the two libraries.
 */
import { type ExcludeOptions, Transform, type TransformFnParams, Type } from 'class-transformer';
import type { Exposure } from '../compile/resource-plan.js';
import type { Class } from '../declare/crud-options.js';
import { type NamedForm, namedForm } from '../declare/named-types.js';
import { isLeftOut } from '../describe/hooks-and-scopes-internals.js';
import type { AttributeInfo, ModelInfo, RecordInfo } from '../describe/model-info.js';
import { copyProblem, DIRECTIONS, transformerStorage } from './class-transformer-internals.js';

type Direction = keyof typeof DIRECTIONS;

/**
 * Attributes that the default scope, their type and `@Exclude()` hide. The scope hides from answers the attributes that Sequelize's finders do
 * not read. `@Exclude()` hides an attribute from answers and bodies, or from one of them with `toPlainOnly` or
 * `toClassOnly`. On the class it hides every attribute without `@Expose()`. An attribute without which no row can be
 * created is hidden from bodies only by a decorator of its own.
 */
export function describeExposure(info: RecordInfo, report: (problem: string) => void): Exposure {
  const unreadable = new Set<string>();
  const unwritable = new Set<string>();
  const undecided = new Map<string, string>();
  const problem = copyProblem(info.model);
  if (problem !== undefined) report(problem);
  for (const attribute of info.attributes.values()) {
    const { name } = attribute;
    const { isHidden: isOmitted, isReadOnly }: Partial<NamedForm> =
      attribute.type.kind === 'named' ? namedForm(attribute.type.name) : {};
    const exposed = transformerStorage.findExposeMetadata(info.model, name);
    if (isReadOnly) unwritable.add(name);
    if (isOmitted && !exposed) unreadable.add(name);
    if (isHidden(info.model, name) || isLeftOut(info.model, name)) unreadable.add(name);
    const exclusion = exclusionOf(info.model, name, 'write');
    if (exclusion) unwritable.add(name);
    if (exclusion && !exclusion.toClassOnly && isRequired(attribute)) {
      undecided.set(name, undecidedProblem(info, name));
    }
    const rename = exposed?.options?.name;
    if (rename !== undefined && rename !== name) {
      report(
        `${info.name}.${name}: @Expose({ name: '${rename}' }) renames it in answers only; rename the attribute ` +
          `(its column keeps its name with @Column({ field: '…' })), or give @Crud a readSchema.`,
      );
    }
  }
  return Object.freeze({ unreadable, unwritable, undecided });
}

/** True where a new row needs a value that only a body, or code of the user's, can hold. */
function isRequired({ role, type, nullable, hasDefault }: AttributeInfo): boolean {
  if (role === 'primaryKey') return !hasDefault;
  return role === 'data' && type.kind !== 'virtual' && !nullable && !hasDefault;
}

function undecidedProblem({ model, name: modelName }: RecordInfo, name: string): string {
  const isOwn = propertyExclusion(model, name, 'write') !== undefined;
  const inBodies = isOwn ? '@Exclude({ toPlainOnly: true })' : '@Expose({ toClassOnly: true })';
  return (
    `${modelName}.${name} is required, and @Exclude() hides it from bodies too, so no create could give it; write ` +
    `${inBodies} to hide it from answers only, or ` +
    '@Exclude({ toPlainOnly: true, toClassOnly: true }) where a hook or an override sets it.'
  );
}

/**
 * True where `@Exclude()` keeps an attribute of any model, served or not, out of answers; or `@Expose()` with groups,
 * of which answers have none.
 */
export function isHidden(model: object, name: string): boolean {
  const { groups, toClassOnly } = transformerStorage.findExposeMetadata(model, name)?.options ?? {};
  const isGrouped = (groups?.length ?? 0) > 0 && toClassOnly !== true;
  return isGrouped || exclusionOf(model, name, 'read') !== undefined;
}

/** The options of the `@Exclude()` that hides an attribute in this direction, if one does. */
function exclusionOf(model: object, name: string, direction: Direction): ExcludeOptions | undefined {
  const own = propertyExclusion(model, name, direction);
  if (own) return own;
  const isExposed = transformerStorage.getExposedProperties(model, DIRECTIONS[direction]).includes(name);
  if (isExposed || transformerStorage.getStrategy(model) !== 'excludeAll') return undefined;
  const { options = {} } = transformerStorage.findExcludeMetadata(model, undefined) ?? {};
  return appliesTo(options, direction) ? options : undefined;
}

/** Exclusions of a class and of the classes that it extends add up, as in class-transformer. */
function propertyExclusion(model: object, name: string, direction: Direction): ExcludeOptions | undefined {
  for (let target = model; typeof target === 'function'; target = Object.getPrototypeOf(target)) {
    const found = transformerStorage.findExcludeMetadata(target, name);
    if (!found) return undefined;
    if (appliesTo(found.options, direction)) return found.options ?? {};
  }
  return undefined;
}

/** A decorator with neither option, or with both, applies in both directions. */
function appliesTo({ toClassOnly, toPlainOnly }: ExcludeOptions = {}, direction: Direction): boolean {
  if (Boolean(toClassOnly) === Boolean(toPlainOnly)) return true;
  return direction === 'write' ? toClassOnly === true : toPlainOnly === true;
}

/** True where the user's `@Transform` or `@Type` decides the form in which a property of the class leaves. */
export function shapesValue(target: Class, property: string): boolean {
  return (
    transformsOf(target, property, 'read').length > 0 ||
    transformsOf(target, property, 'write').length > 0 ||
    hasType(target, property)
  );
}

/** True where `@Type` names a class for a property, or a function that chooses one. */
export function hasType(target: object, property: string): boolean {
  return transformerStorage.findTypeMetadata(target, property) !== undefined;
}

/** True where a property of any class has a `@Transform` of the user's for this direction. */
export function isTransformed(target: object, property: string, direction: Direction): boolean {
  return transformsOf(target, property, direction).length > 0;
}

/** The class that `@Type` sets for a property; undefined without one, and where the value decides which it is. */
export function declaredType(target: object, property: string): Class | undefined {
  const metadata = transformerStorage.findTypeMetadata(target, property);
  if (!metadata || metadata.options?.discriminator) return undefined;
  try {
    const type = metadata.typeFunction();
    return typeof type === 'function' ? (type as Class) : undefined;
  } catch {
    // A function that needs the value.
    return undefined;
  }
}

/** The classes that `@Type` lets objects of a property become; null without one, and none where the value decides. */
export function nestedTypes(target: object, property: string): readonly Class[] | null {
  const metadata = transformerStorage.findTypeMetadata(target, property);
  if (!metadata) return null;
  const type = declaredType(target, property);
  const chosen = metadata.options?.discriminator?.subTypes.map(({ value }) => value as Class);
  return chosen ?? (type ? [type] : []);
}

/** Transforms in the order in which class-transformer runs them: the reverse of that in which they were added. */
function transformsOf(target: object, property: string, direction: Direction) {
  return transformerStorage.findTransformMetadatas(target, property, DIRECTIONS[direction]);
}

/** Adds to a derived class the `@Transform`s of the model's attribute that make it an answer, in their order. */
export function copyReadTransforms(info: RecordInfo, attribute: string, target: object): void {
  for (const { transformFn } of transformsOf(info.model, attribute, 'read').toReversed()) {
    Transform(transformFn, { toPlainOnly: true })(target, attribute);
  }
}

/**
 * Adds to a derived class the `@Transform`s of the model's attribute that take it from a body, in their order. One that
 * throws was written for values of the column's type; any other value is left for the column's rules to refuse.
 */
export function copyWriteTransforms(
  info: ModelInfo,
  attribute: string,
  target: object,
  holds: (value: unknown) => boolean,
): void {
  for (const { transformFn } of transformsOf(info.model, attribute, 'write').toReversed()) {
    const guarded = (params: TransformFnParams): unknown => {
      try {
        return transformFn(params);
      } catch (error) {
        if (holds(params.value)) throw error;
        return params.value;
      }
    };
    Transform(guarded, { toClassOnly: true })(target, attribute);
  }
}

/** Adds to a derived class the `@Type` of the model's attribute, which `@ValidateNested` needs; true where there is one. */
export function copyType(info: ModelInfo, attribute: string, target: object): boolean {
  const metadata = transformerStorage.findTypeMetadata(info.model, attribute);
  // class-transformer's own types allow only functions that return a class.
  if (metadata) Type(metadata.typeFunction as () => () => unknown, metadata.options)(target, attribute);
  return metadata !== undefined;
}
