/** Associations of a Sequelize model -> relations: which rows of another model belong to a row. Plain, frozen data. */
import type { Association } from 'sequelize';
import type { ModelClass } from '../declare/crud-options.js';
import { type KeyRelation, keyRelationsOf } from '../declare/key-relations.js';
import { didYouMean } from '../util/option-problems.js';

/** The values of an association's scope, by attribute. */
export type RelationScope = Readonly<Record<string, unknown>>;

/** The rows between two models. */
export interface Through {
  readonly model: ModelClass;
  /** The attribute that has the value of the parent's key. */
  readonly parentKey: string;
  /** The attribute that has the value of the target's key. */
  readonly targetKey: string;
  readonly scope: RelationScope;
}

/** Attributes of two models with the same value. */
export interface KeyPair {
  readonly parentKey: string;
  readonly targetKey: string;
}

/** A relation: the rows of a model with the same value of a key belong to a row of another model. */
export interface Relation {
  readonly name: string;
  readonly parent: ModelClass;
  readonly target: ModelClass;
  /** True where a row has one such row at most. */
  readonly isOne: boolean;
  /** An attribute of the parent. */
  readonly parentKey: string;
  /** The attribute of the target with the same value; of the rows in between, where there are any. */
  readonly targetKey: string;
  /** The further attributes of a key of several; empty for others. */
  readonly more: readonly KeyPair[];
  readonly scope: RelationScope;
  /** Null where the target itself has the value. */
  readonly through: Through | null;
}

/** Fields of an association that Sequelize's types leave out. */
interface AssociationInternals extends Association {
  readonly sourceKey?: string;
  readonly targetKey?: string;
  readonly otherKey?: string;
  readonly scope?: RelationScope | null;
  readonly through?: { readonly model?: ModelClass; readonly scope?: RelationScope | null };
}

/** Either the relation, or its problem, as the end of a sentence. */
export type RelationDescription =
  | { readonly relation: Relation; readonly problem: null }
  | { readonly relation: null; readonly problem: string };

/** True where a key of a relation is among names: of the parent, of the target, or of the rows in between. */
export function hasKeyIn(
  { through, ...relation }: Relation,
  parent: ReadonlySet<string>,
  target: ReadonlySet<string>,
  between: ReadonlySet<string>,
): boolean {
  return (
    keyPairs(relation).some(({ parentKey, targetKey }) => parent.has(parentKey) || target.has(targetKey)) ||
    (through !== null && (between.has(through.parentKey) || between.has(through.targetKey)))
  );
}

/** All attributes of the key of a relation. */
export function keyPairs({
  parentKey,
  targetKey,
  more,
}: Pick<Relation, 'parentKey' | 'targetKey' | 'more'>): readonly KeyPair[] {
  return [{ parentKey, targetKey }, ...more];
}

/** The attributes of the parent by which the rows of a relation are found. */
export function parentKeys(relation: Pick<Relation, 'parentKey' | 'targetKey' | 'more'>): readonly string[] {
  return keyPairs(relation).map(({ parentKey }) => parentKey);
}

/** The attributes of the target with the same values. */
export function targetKeys(relation: Pick<Relation, 'parentKey' | 'targetKey' | 'more'>): readonly string[] {
  return keyPairs(relation).map(({ targetKey }) => targetKey);
}

/**
 * The text of the key of each record, by which the rows of a relation are found: of a key of several attributes the JSON array of their texts. Null
 * for a record that has none.
 *
 * @param column returns the texts of an attribute in all records
 */
export function relationKeys(
  relation: Relation,
  column: (attribute: string) => readonly (string | null)[],
): readonly (string | null)[] {
  const [first = [], ...others] = parentKeys(relation).map(column);
  if (others.length === 0) return first;
  return first.map((text, index) => {
    const texts = [text, ...others.map((each) => each[index] ?? null)];
    return texts.includes(null) ? null : JSON.stringify(texts);
  });
}

/** The names of the relations of a model. */
export function relationNames(model: ModelClass): readonly string[] {
  return [...Object.keys(model.associations ?? {}), ...keyRelationsOf(model).map(({ name }) => name)];
}

/** Describes a relation of a model. */
export function describeRelation(model: ModelClass, name: string): RelationDescription {
  const names = relationNames(model);
  if (!names.includes(name)) {
    const choices =
      names.length > 0 ? `The relations are ${names.join(', ')}.` : `${model.name} has no relations.`;
    return failure(`is no relation of ${model.name}.${didYouMean(name, names)} ${choices}`);
  }
  const own = keyRelationsOf(model).find((each) => each.name === name);
  if (own) return describeKeyRelation(model, own);
  const association = model.associations[name] as AssociationInternals;
  const target = association.target as ModelClass;
  const scope = Object.freeze({ ...association.scope });
  const shared = { name, parent: model, target, scope, more: [] };
  const { foreignKey, sourceKey = NONE, targetKey = NONE } = association;
  switch (association.associationType) {
    case 'BelongsTo':
      return found({ ...shared, isOne: true, parentKey: foreignKey, targetKey, through: null });
    case 'HasOne':
    case 'HasMany': {
      const isOne = association.associationType === 'HasOne';
      return found({ ...shared, isOne, parentKey: sourceKey, targetKey: foreignKey, through: null });
    }
    case 'BelongsToMany': {
      const { otherKey, through: { model: between, scope: kept } = {} } = association;
      if (!otherKey || !between) break;
      const through = Object.freeze({
        model: between,
        parentKey: foreignKey,
        targetKey: otherKey,
        scope: Object.freeze({ ...kept }),
      });
      return found({ ...shared, isOne: false, parentKey: sourceKey, targetKey, through });
    }
  }
  return failure(`is a ${association.associationType}, which cannot be loaded by its keys; remove it.`);
}

function describeKeyRelation(model: ModelClass, { name, isOne, target: find, keys }: KeyRelation) {
  const target = find() as ModelClass | undefined;
  if (!target?.getAttributes)
    return failure('has a function that returns no model; check the imports of both files.');
  if (model.associations?.[name])
    return failure('is declared twice, as an association of Sequelize, too; remove one of them.');
  const pairs = Object.entries(keys).map(([parentKey, targetKey]) => ({ parentKey, targetKey }));
  const [first, ...more] = pairs as [KeyPair, ...KeyPair[]];
  const shared = { name, parent: model, target, scope: Object.freeze({}), through: null };
  return found({ ...shared, isOne, ...first, more: Object.freeze(more) });
}

/** A key that one of the models does not have would compare nothing. */
function found(relation: Relation): RelationDescription {
  const { parent, target, through } = relation;
  const between = through ? [through.parentKey, through.targetKey] : [];
  const missing =
    missingKey(parent, parentKeys(relation)) ??
    missingKey(target, targetKeys(relation)) ??
    (through && missingKey(through.model, between));
  return missing ? failure(missing) : { relation: Object.freeze(relation), problem: null };
}

/** The key of an association that Sequelize has found none for: the model has no primary key. */
const NONE = '';

function missingKey(model: ModelClass, keys: readonly string[]): string | undefined {
  if (keys.includes(NONE))
    return `joins by a key of ${model.name}, which has no primary key; name a unique attribute as its sourceKey or targetKey.`;
  const key = keys.find((each) => !(each in model.getAttributes()));
  return key && `has the key '${key}', which is no attribute of ${model.name}; declare it there.`;
}

function failure(problem: string): RelationDescription {
  return { relation: null, problem };
}
