/** Options of the names that clients sort by: types only. */
import type { Model } from 'sequelize';
import type { Attribute } from './attributes.js';

/** Places that rows without a value can have in an order. */
export const NULL_PLACES = ['first', 'last'] as const;

/** Place of the rows without a value, whether the order ascends or descends. */
export type NullPlace = (typeof NULL_PLACES)[number];

/** Options of one name in `sortAllow`. */
export interface SortOptions {
  /**
   * Place of NULLs, for both directions alike. An index has to have the same place. Default: behind the largest value, which is last
   * where the order ascends, and first where it descends.
   */
  readonly nulls?: NullPlace;
}

/**
 * The attributes that a client may sort by: a list of them, or an object with the order of each; true is the order of the column.
 *
 * @example ['id', 'name']
 * @example { name: true, population: { nulls: 'last' } }   // sort=-population has cities without one at the end
 */
export type SortAllow<M extends Model> =
  | readonly Attribute<M>[]
  | (string extends Attribute<M>
      ? { readonly [name: string]: true | SortOptions }
      : { readonly [A in Attribute<M>]?: true | SortOptions });
