/** Sequelize model class -> `ModelInfo`. Reads what Sequelize already knows; needs no reflected types. */
import type { Model, ModelAttributeColumnOptions } from 'sequelize';
import { type ModelCtor, Sequelize } from 'sequelize-typescript';
import type { ModelClass } from '../declare/crud-options.js';
import { nameProblems } from './attribute-names.js';
import { timestampsOf, versionOf } from './attribute-notes.js';
import type { ColumnType } from './column-type.js';
import { cutName } from './cut-name.js';
import { EXTENDS_MODEL, isModelClass } from './given-model.js';
import { introspectColumnType } from './introspect-column-type.js';
import type { AttributeInfo, AttributeRole, ModelInfo } from './model-info.js';
import { instanceOptions } from './sequelize-internals.js';
import { tableFacts } from './table-facts.js';

/** Either the description, or everything that is wrong with the model. */
export type Introspection =
  | { readonly info: ModelInfo; readonly problems: readonly [] }
  | { readonly info: null; readonly problems: readonly string[] };

/** True where `model` belongs to a Sequelize instance. */
export function isAttached(model: ModelClass): boolean {
  return Boolean(model.sequelize);
}

/** Looks at a model once. Never throws for a wrong model: every problem is returned, with what to write instead. */
export function introspectModel(model: ModelClass): Introspection {
  if (!isModelClass(model)) {
    const { name } = model as { readonly name: string };
    return failure([`${name} has @Crud and is no model; write class ${name} ${EXTENDS_MODEL}.`]);
  }
  if (!isAttached(model)) {
    return failure([
      `${model.name} is not attached to a Sequelize instance; list it in the engine's models, or in ` +
        'new Sequelize({ models: [...] }), before bootstrap is called.',
    ]);
  }
  const names = nameProblems(model);
  // Of attributes with such names, no record can be made to look at.
  const shadowed = names.length > 0 ? [] : shadowedAttributeProblems(model);
  const problems = [...primaryKeyProblems(model), ...names, ...shadowed];
  if (problems.length > 0) return failure(problems);

  const attributes = introspectAttributes(model);
  const primaryKey = attributes.get(model.primaryKeyAttributes[0] ?? '') as AttributeInfo;
  const info: ModelInfo = Object.freeze({
    model,
    name: model.name,
    pluralName: model.options.name?.plural ?? model.name,
    attributes,
    primaryKey,
    paranoid: model.options.paranoid === true,
  });
  return { info, problems: [] };
}

/** The attributes of any model, a right one or not. */
export function introspectAttributes(model: ModelClass): ReadonlyMap<string, AttributeInfo> {
  const described = Object.entries(model.getAttributes()).map(
    ([name, options]) => [name, describeAttribute(model, name, options)] as const,
  );
  return new Map(described);
}

function failure(problems: readonly string[]): Introspection {
  return { info: null, problems };
}

function describeAttribute(
  model: ModelClass,
  name: string,
  options: ModelAttributeColumnOptions,
): AttributeInfo {
  const column = cutName(options.field ?? name);
  const type = withZone(introspectColumnType(options.type), model, column);
  return Object.freeze({
    name,
    column,
    type,
    role: attributeRole(model, name),
    nullable: options.allowNull !== false && options.primaryKey !== true,
    hasDefault: options.autoIncrement === true || options.defaultValue !== undefined,
    // The catalogue is read when plans are there already.
    get found() {
      return tableFacts(model)?.columns.get(column);
    },
  });
}

/** The catalogue is read when plans are there already. */
function withZone(type: ColumnType, model: ModelClass, column: string): ColumnType {
  if (type.kind === 'array')
    return Object.freeze({ ...type, element: withZone(type.element, model, column) });
  if (type.kind === 'other' && type.bound)
    return Object.freeze({ ...type, bound: withZone(type.bound, model, column) });
  if (type.kind !== 'date') return Object.freeze(type);
  const zoneOf = (): string | undefined => {
    const found = tableFacts(model)?.columns.get(column)?.baseType;
    if (!found?.startsWith('timestamp without time zone') && !found?.startsWith('tsrange')) return undefined;
    return instanceOptions(model.sequelize as object).timezone ?? '+00:00';
  };
  return Object.freeze(Object.defineProperty({ ...type }, 'zone', { get: zoneOf }));
}

function attributeRole(model: ModelClass, name: string): AttributeRole {
  if (model.primaryKeyAttributes.includes(name)) return 'primaryKey';
  if (Object.values(timestampsOf(model)).includes(name)) return 'timestamp';
  return versionOf(model) === name ? 'version' : 'data';
}

function primaryKeyProblems(model: ModelClass): string[] {
  const keys = model.primaryKeyAttributes;
  if (keys.length === 1) return [];
  const found = keys.length === 0 ? 'has no primary key' : `has a composite primary key (${keys.join(', ')})`;
  return [
    `${model.name} ${found}; give it one attribute with @PrimaryKey, unique in the table by itself, so that /{id} can address a row.`,
  ];
}

/**
 * A class field without `declare` becomes an own property (`useDefineForClassFields`, the default since ES2022) and
 * hides Sequelize's accessor: every value would read as undefined.
 * https://sequelize.org/docs/v6/core-concepts/model-basics/#caveat-with-public-class-fields
 */
function shadowedAttributeProblems(model: ModelClass): string[] {
  const instance: Model = new model();
  return Object.keys(model.getAttributes())
    .filter((name) => Object.hasOwn(instance, name))
    .map(
      (name) =>
        `${model.name}.${name} is a class field that hides the attribute's accessor; ` +
        `write \`declare ${name}: …\` instead of \`${name}!: …\`.`,
    );
}

/** Gives those of the models that have no Sequelize instance one that never connects: describing them needs no database. */
export function attachOffline(models: readonly ModelClass[]): void {
  const loose = [...new Set(models)].filter((model) => !isAttached(model));
  if (loose.length === 0) return;
  const sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  sequelize.addModels(loose as unknown as ModelCtor[]);
}
