/**
 * The attributes of a model, as types. `Model<A, C>` says what they are. `Model` alone, and `Model<Self>` of older
 * sequelize-typescript code, do not: their attributes are the fields of the class.
 */
import type { Attributes, CreationAttributes, Model } from 'sequelize';
import type { Model as TypescriptModel } from 'sequelize-typescript';

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
 * The values of a new row. For a model that does not say what its attributes are, every one of them is optional.
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
