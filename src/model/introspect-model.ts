/** Sequelize model class -> `ModelInfo`. Reads what Sequelize already knows; needs no reflected types. */
import type { Model, ModelAttributeColumnOptions, Sequelize } from 'sequelize';
import type { ModelClass } from '../metadata/crud-options.js';
import { introspectColumnType } from './introspect-column-type.js';
import type { AttributeInfo, AttributeRole, ModelInfo } from './model-info.js';

/** Sequelize's own description of a model; some of it is not in its types. */
interface InitializedModel {
  readonly name: string;
  readonly sequelize?: Sequelize;
  readonly rawAttributes: Readonly<Record<string, ModelAttributeColumnOptions>>;
  readonly primaryKeyAttributes: readonly string[];
  readonly options: { readonly paranoid?: boolean; readonly name?: { readonly plural?: string } };
  readonly _timestampAttributes: Readonly<Record<string, string>>;
  readonly _versionAttribute?: string | false;
}

/** Either the description, or everything that is wrong with the model. */
export type Introspection =
  | { readonly info: ModelInfo; readonly problems: readonly [] }
  | { readonly info: null; readonly problems: readonly string[] };

/** Whether `model` has been given to a Sequelize instance. */
export function isAttached(model: ModelClass): boolean {
  return Boolean((model as unknown as InitializedModel).sequelize);
}

/** Looks at a model once. Never throws for a wrong model: every problem is returned, with what to write instead. */
export function introspectModel(model: ModelClass): Introspection {
  const source = model as unknown as InitializedModel;
  if (!isAttached(model)) {
    return failure([
      `${model.name} is not attached to a Sequelize instance; list it in the engine's models, or in ` +
        'new Sequelize({ models: [...] }), before bootstrap is called.',
    ]);
  }
  const problems = [...primaryKeyProblems(source), ...shadowedAttributeProblems(model, source)];
  if (problems.length > 0) return failure(problems);

  const attributes = introspectAttributes(model);
  const primaryKey = attributes.get(source.primaryKeyAttributes[0] ?? '') as AttributeInfo;
  const info: ModelInfo = Object.freeze({
    model,
    name: source.name,
    pluralName: source.options.name?.plural ?? source.name,
    attributes,
    primaryKey,
    virtualSetters: virtualSetters(source),
    paranoid: source.options.paranoid === true,
  });
  return { info, problems: [] };
}

/** The attributes of any model, a right one or not. */
export function introspectAttributes(model: ModelClass): ReadonlyMap<string, AttributeInfo> {
  const source = model as unknown as InitializedModel;
  const described = Object.entries(source.rawAttributes).map(
    ([name, options]) => [name, describeAttribute(source, name, options)] as const,
  );
  return new Map(described);
}

function failure(problems: readonly string[]): Introspection {
  return { info: null, problems };
}

function describeAttribute(
  model: InitializedModel,
  name: string,
  options: ModelAttributeColumnOptions,
): AttributeInfo {
  const type = Object.freeze(introspectColumnType(options.type));
  return Object.freeze({
    name,
    column: options.field ?? name,
    type,
    role: attributeRole(model, name),
    nullable: options.allowNull !== false && options.primaryKey !== true,
    hasDefault: options.autoIncrement === true || options.defaultValue !== undefined,
  });
}

function virtualSetters({ rawAttributes }: InitializedModel): ReadonlySet<string> {
  const names = Object.keys(rawAttributes).filter((name) => rawAttributes[name]?.set !== undefined);
  return new Set(names);
}

function attributeRole(model: InitializedModel, name: string): AttributeRole {
  if (model.primaryKeyAttributes.includes(name)) return 'primaryKey';
  if (Object.values(model._timestampAttributes).includes(name)) return 'timestamp';
  return model._versionAttribute === name ? 'version' : 'data';
}

function primaryKeyProblems(model: InitializedModel): string[] {
  const keys = model.primaryKeyAttributes;
  if (keys.length === 1) return [];
  const found = keys.length === 0 ? 'has no primary key' : `has a composite primary key (${keys.join(', ')})`;
  return [`${model.name} ${found}; give it one attribute with @PrimaryKey, so that /{id} can address a row.`];
}

/**
 * A class field without `declare` becomes an own property (`useDefineForClassFields`, the default since ES2022) and
 * hides Sequelize's accessor: every value would read as undefined.
 * https://sequelize.org/docs/v6/core-concepts/model-basics/#caveat-with-public-class-fields
 */
function shadowedAttributeProblems(model: ModelClass, source: InitializedModel): string[] {
  const instance: Model = new model();
  return Object.keys(source.rawAttributes)
    .filter((name) => Object.hasOwn(instance, name))
    .map(
      (name) =>
        `${source.name}.${name} is a class field that hides the attribute's accessor; ` +
        `write \`declare ${name}: …\` instead of \`${name}!: …\`.`,
    );
}
