/** Attributes that tie rows together: foreign keys, and keys that no two rows may share. */
import type { Model, Sequelize } from 'sequelize';
import { getForeignKeys } from 'sequelize-typescript/dist/associations/foreign-key/foreign-key-service.js';
import type { ModelClass } from '../declare/crud-options.js';
import { keyRelationsOf } from '../declare/key-relations.js';
import type { ModelInfo } from './model-info.js';
import { describeRelation } from './relations.js';
import { constrainedModel } from './sequelize-internals.js';

/** An attribute that names a row of a model. */
export interface ForeignKey {
  readonly attribute: string;
  readonly target: ModelClass;
  /** The attribute of the target that has the same value. */
  readonly key: string;
  /** The further attributes of a key of several. Default: none. */
  readonly more?: readonly FurtherKey[];
  /** True where a change may write some of these attributes alone. Default: false. */
  readonly takesParts?: boolean;
}

/** An attribute that names a row together with others, and that of the target with the same value. */
export interface FurtherKey {
  readonly attribute: string;
  readonly key: string;
}

interface TargetKey {
  readonly targetKey?: string;
}

/**
 * The foreign keys of a model, by the references of its attributes and by its `BelongsTo`. An attribute that may name a row of
 * several models, such as a polymorphic one, is there once for each.
 */
export function foreignKeysOf(model: ModelClass): readonly ForeignKey[] {
  const declared = Object.entries(model.getAttributes()).flatMap(([attribute, { references }]) =>
    references ? referredModels(model.sequelize, references, attribute) : [],
  );
  const belongs = Object.values(model.associations)
    .filter(({ associationType }) => associationType === 'BelongsTo')
    .flatMap((association): ForeignKey | [] => {
      const { foreignKey, target } = association;
      const { targetKey } = association as TargetKey;
      return targetKey ? { attribute: foreignKey, target: target as ModelClass, key: targetKey } : [];
    });
  // `@ForeignKey` without a relation makes no constraint, and means a row of that model all the same.
  const decorations = (getForeignKeys(model.prototype) ?? []).map(({ foreignKey, relatedClassGetter }) => ({
    attribute: foreignKey,
    target: relatedClassGetter() as unknown as ModelClass,
  }));
  const decorated = decorations.flatMap(({ attribute, target }): ForeignKey | [] => {
    const all = decorations.filter((each) => each.target === target).map((each) => each.attribute);
    const key = keyPartFor(attribute, all, target.primaryKeyAttributes);
    return key === undefined ? [] : { attribute, target, key };
  });
  const found = new Map<string, ForeignKey>();
  for (const each of [...belongs, ...declared, ...decorated]) {
    found.set(`${each.attribute}\0${each.target.name}\0${each.key}`, each);
  }
  const several = severalKeysOf(model);
  const isNamed = (key: ForeignKey) =>
    several.some(({ target, ...each }) => target === key.target && sorted(each) === sorted(key));
  return [...found.values(), ...several, ...wholeKeys(decorated).filter((key) => !isNamed(key))];
}

/** The attributes of a key, in the same order for all spellings. */
function sorted(key: Pick<ForeignKey, 'attribute' | 'more'>): string {
  return [...keyAttributes(key)].sort().join('\0');
}

/** Decorated attributes for all parts of a key of several: they name one row together, beside what each of them means alone. */
function wholeKeys(decorated: readonly ForeignKey[]): ForeignKey[] {
  const targets = new Set(decorated.map(({ target }) => target));
  return [...targets].flatMap((target): ForeignKey | [] => {
    const parts = decorated.filter((each) => each.target === target);
    const [first, ...more] = parts;
    const names = new Set(parts.map(({ key }) => key));
    const isWhole = names.size === parts.length && names.size === target.primaryKeyAttributes.length;
    return first && more.length > 0 && isWhole ? { ...first, more, takesParts: true } : [];
  });
}

/** The foreign keys of several attributes. */
function severalKeysOf(model: ModelClass): ForeignKey[] {
  return keyRelationsOf(model).flatMap(({ name, isOne }): ForeignKey | [] => {
    const { relation } = describeRelation(model, name);
    if (!relation || !isOne) return [];
    const { target, parentKey, targetKey, more } = relation;
    const others = more.map((pair) => ({ attribute: pair.parentKey, key: pair.targetKey }));
    return { attribute: parentKey, target, key: targetKey, more: others };
  });
}

/** All attributes of a foreign key. */
export function keyAttributes({
  attribute,
  more = [],
}: Pick<ForeignKey, 'attribute' | 'more'>): readonly string[] {
  return [attribute, ...more.map((each) => each.attribute)];
}

/**
 * The part of a primary key that an attribute refers to. Of several parts it is the one with the same name, or at the same place among the
 * others where there are as many of them as attributes. It is undefined where there is no key.
 */
function keyPartFor(
  attribute: string,
  all: readonly string[],
  key: readonly string[] | undefined = [],
): string | undefined {
  if (key.includes(attribute)) return attribute;
  const [attributes, parts] = [
    all.filter((each) => !key.includes(each)),
    key.filter((each) => !all.includes(each)),
  ];
  return (attributes.length === parts.length ? parts[attributes.indexOf(attribute)] : undefined) ?? key[0];
}

/** Models that `references` of an attribute names, in each of its spellings. */
function referredModels(
  sequelize: Sequelize | undefined,
  references: unknown,
  attribute: string,
): ForeignKey[] {
  const { model, key } = (typeof references === 'string' ? { model: references } : references) as {
    readonly model?: unknown;
    readonly key?: string;
  };
  const table = tableOf(model);
  const models = (sequelize?.modelManager as { readonly models?: readonly ModelClass[] } | undefined)?.models;
  return (models ?? [])
    .filter((each) => tableOf(each) === table)
    .map((target) => ({ attribute, target, key: attributeOf(target, key) }));
}

/** The table that Sequelize would take for this one: `public` is where a table is without a schema. */
function tableOf(table: unknown): string {
  if (typeof table === 'function') return tableOf((table as typeof Model).getTableName());
  if (typeof table === 'string') return table.includes('.') ? table : `public.${table}`;
  const { tableName, schema } = (table ?? {}) as { readonly tableName?: string; readonly schema?: string };
  return `${schema || 'public'}.${tableName}`;
}

function attributeOf(target: ModelClass, key: string | undefined): string {
  const attributes = Object.entries(target.getAttributes());
  const [name] = attributes.find(([each, { field = each }]) => field === key) ?? [];
  return name ?? (key !== undefined && key in target.getAttributes() ? key : target.primaryKeyAttribute);
}

interface RivalAttributes {
  /** One row can have the value that another one loses. */
  readonly unique: ReadonlySet<string>;
  /** Foreign keys that name rows of the same table. */
  readonly ownReferences: ReadonlySet<string>;
}

/** Finds those of a model. */
export function rivalAttributes({ model, attributes }: ModelInfo): RivalAttributes {
  const fields = new Set(uniqueFields(model).flat());
  const table = JSON.stringify(model.getTableName());
  const isOwn = (target: typeof model) => JSON.stringify(target.getTableName()) === table;
  return {
    unique: new Set(
      [...attributes.values()].flatMap(({ name, column }) =>
        fields.has(name) || fields.has(column) || model.getAttributes()[name]?.unique ? name : [],
      ),
    ),
    ownReferences: new Set(
      foreignKeysOf(model).flatMap((key) => (isOwn(key.target) ? keyAttributes(key) : [])),
    ),
  };
}

/** The fields of each unique index and key that a model declares, as `fieldName` has them. */
export function uniqueFields(model: object): readonly (readonly string[])[] {
  const { _indexes = [], uniqueKeys = {} } = constrainedModel(model);
  const keys = [...Object.values(uniqueKeys), ..._indexes.filter(({ unique }) => unique)];
  return keys.map(({ fields = [] }) => fields.map(fieldName));
}

/** The column of an index, or the attribute; of an expression something that is neither. */
export function fieldName(field: unknown): string {
  return typeof field === 'string' ? field : String((field as { name?: unknown } | null)?.name);
}
