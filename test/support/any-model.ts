/** Random models with their rows and options, as the tests of relations see them. */
import { DataTypes } from 'sequelize';
import type { CountMode } from '../../src/index.js';
import { EQUALITY, KINDS, type Kind, PATTERN } from './filter-arbitrary.js';

/** A row: the text of each attribute, or null. */
export type Row = Readonly<Record<string, string | null>>;

export type KeyKind = keyof typeof KEYS;

/** An attribute. */
export interface AnyAttribute {
  readonly name: string;
  readonly kind: Kind;
}

/** The rows between those of two models. */
export interface AnyJoin {
  readonly name: string;
  readonly isParanoid: boolean;
  readonly isScoped: boolean;
  /** True where only rows of the kind `x` join. */
  readonly isNarrow: boolean;
  readonly rows: readonly Row[];
}

/** An association. */
export interface AnyRelation {
  readonly name: string;
  readonly association: 'belongsTo' | 'hasOne' | 'hasMany' | 'belongsToMany';
  readonly target: AnyModel;
  /** The attribute with the key of the other model: of the model itself, of the target, or null where there is a join. */
  readonly foreignKey: string | null;
  /** True where the key is the unique code. */
  readonly isByCode: boolean;
  /** True where only rows of the kind `x` belong to it. */
  readonly isNarrow: boolean;
  readonly join: AnyJoin | null;
}

/** Modes in which rows may be counted. */
export interface AnyCount {
  readonly default?: CountMode;
  readonly allow: readonly CountMode[];
  readonly cap: number;
}

/** Options of a relation that may be included. */
export interface AnyPlace {
  /** Null is one record. */
  readonly size: { readonly default: number; readonly max: number } | null;
  readonly count: AnyCount | null;
  /** True where a rule of the relation shows rows of the kind `x` only. */
  readonly isRuled: boolean;
}

/** Attributes that `q` may name, and relations with theirs. */
export interface AnyFilters {
  readonly names: string[];
  readonly relations: Map<string, AnyFilters>;
  /** The form of the option. */
  readonly form: 'all' | 'list' | 'object' | 'dotted';
}

/** A model. */
export interface AnyModel {
  readonly name: string;
  readonly key: KeyKind;
  readonly isServed: boolean;
  /** True where it has no `@Crud`. */
  readonly isPlain: boolean;
  readonly isScoped: boolean;
  /** True where `visible` hides rows whose number is 7, or unknown. */
  readonly isJudged: boolean;
  /** True where its default scope finds rows of the kind `x` only. */
  readonly isUsual: boolean;
  readonly isParanoid: boolean;
  readonly pagination: 'offset' | 'cursor';
  readonly count: AnyCount | null;
  readonly defaultSort: string;
  readonly attributes: AnyAttribute[];
  readonly hidden: Set<string>;
  readonly relations: AnyRelation[];
  readonly rows: Row[];
  readonly filters: AnyFilters;
  /** By path, in the order of the option. */
  readonly include: Map<string, AnyPlace>;
  /** Relations to many with a list under each record, and whether their rule shows rows of the kind `x` only. */
  readonly subresources: Map<string, boolean>;
}

/** Rows that a request sees have this owner. */
export const TENANT = 'A';
export const PAGE_SIZE = 5;
export const PAGE_MAX = 8;
export const MAX_ROWS = 12;

/** A text whose order is that of the database. */
export const WORD: Kind = {
  ...KINDS.text,
  operators: [...EQUALITY, ...PATTERN],
  values: ['x', 'y', 'A', 'B'],
};

const keysOf = (kind: Kind, of: (index: number) => string) => ({
  ...kind,
  of,
  values: Array.from({ length: MAX_ROWS + 2 }, (_, index) => of(index)),
});

/** Kinds of keys. */
export const KEYS = {
  integer: keysOf(KINDS.whole, (index) => `${index - 2}`),
  bigint: keysOf(KINDS.big, (index) => `${9007199254740990n + BigInt(index)}`),
  text: keysOf(WORD, (index) => `k${10 + index}'"\\{,} NULL`),
  uuid: keysOf(
    { ...KINDS.key, type: DataTypes.UUID },
    (index) => `${10 + index}a85f64-5717-4562-b3fc-2c963f66afa6`,
  ),
};

/** Unique texts beside the keys. */
export const CODES = keysOf(WORD, (index) => `c"${10 + index}\\`);

/** True where a relation leads to one record. */
export function isOne({ association }: Pick<AnyRelation, 'association'>): boolean {
  return association === 'belongsTo' || association === 'hasOne';
}

/** The relation of a model with this name. */
export function relationOf({ name: owner, relations }: AnyModel, name: string): AnyRelation {
  const relation = relations.find((each) => each.name === name);
  if (!relation) throw new Error(`${owner} has no ${name}.`);
  return relation;
}

/** The model that a path leads to. */
export function targetAt(model: AnyModel, path: string): AnyModel {
  return path.split('.').reduce((each, name) => relationOf(each, name).target, model);
}

/** The names of a model's properties, in their order. */
export function attributesOf({ attributes, hidden, isParanoid }: AnyModel): readonly string[] {
  const names = attributes.map(({ name }) => name).filter((name) => !hidden.has(name));
  return isParanoid ? [...names, 'deletedAt'] : names;
}
