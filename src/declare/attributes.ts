/**
 * The attributes of a model, as types. `Model<A, C>` declares them. `Model` alone, and `Model<Self>` of older
 * sequelize-typescript code, do not: their attributes are the fields of the class.
 */
import type { Attributes, CreationAttributes, Model, WhereOptions } from 'sequelize';
import type { Model as TypescriptModel } from 'sequelize-typescript';

/**
 * A related record, or a list of them, in the field of a relation: the same type as `T`. With `emitDecoratorMetadata` a
 * compiler writes the type of a decorated field into the program. For `declare project?: Project` it reads the class `Project`
 * while the module loads. In ES modules that import one another that fails: "Cannot access 'Project' before initialization".
 * For a `Ref` it reads nothing.
 *
 * @example
 * ```ts
 * @BelongsTo(() => Project)
 * declare project?: Ref<Project>;
 *
 * @HasMany(() => Task)
 * declare tasks?: Ref<Task[]>;
 * ```
 */
export type Ref<T> = T;

/** The name of an attribute of `M`. */
export type Attribute<M extends Model> =
  SaysAttributes<M> extends true ? Extract<keyof Attributes<M>, string> : FieldName<M>;

/** The name of a relation of `M`: a field with a record, or with a list of them; any name for a model without fields. */
export type RelationName<M extends Model> = [TypescriptModel] extends [M]
  ? string
  : {
      [K in keyof M]-?: K extends keyof Model ? never : [NonNullable<M[K]>] extends [Relation] ? K : never;
    }[keyof M] &
      string;

/**
 * The values of a new row. For a model that does not declare its attributes as types, every one of them is optional.
 *
 * @example
 * ```ts
 * class City extends Model { declare name: string }
 * const values: CreateValues<City> = { name: 'Lyon' };
 * ```
 */
export type CreateValues<M extends Model> =
  SaysAttributes<M> extends true ? CreationAttributes<M> : Partial<FieldValues<M>>;

/** The values to change in a row. */
export type UpdateValues<M extends Model> =
  SaysAttributes<M> extends true ? Partial<Attributes<M>> : Partial<FieldValues<M>>;

/**
 * A condition of Sequelize's on the attributes of `M`: values, lists of them, and operators of `Op`. A name that is no attribute does not
 * compile, unless the model declares no fields.
 *
 * @example
 * ```ts
 * const where: Where<City> = { country: ['FR', 'IT'], population: { [Op.gte]: 100_000 } };
 * ```
 */
export type Where<M extends Model> = [TypescriptModel] extends [M]
  ? WhereOptions
  : // biome-ignore lint/suspicious/noExplicitAny: a column is compared with more than its field says: null, texts of a date
    WhereOptions<SaysAttributes<M> extends true ? Attributes<M> : Record<FieldName<M>, any>>;

/** False for the `any` of a bare `Model`, and for `Model<Self>`, where methods would count as attributes. */
type SaysAttributes<M extends Model> = [Attributes<M>] extends [Model] ? false : true;

/** The fields that are neither part of Sequelize, nor methods, nor relations; any name for a model without fields. */
type FieldName<M extends Model> = [TypescriptModel] extends [M]
  ? string
  : {
      [K in keyof M]-?: K extends keyof Model | `$${string}`
        ? never
        : NonNullable<M[K]> extends Method | Relation
          ? never
          : K;
    }[keyof M] &
      string;

type FieldValues<M extends Model> = [TypescriptModel] extends [M]
  ? Record<string, unknown>
  : Pick<M, FieldName<M> & keyof M>;

type Method = (...args: never[]) => unknown;
type Relation = Model | readonly Model[];
