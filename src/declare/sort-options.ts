/** Options of the names that clients sort by: types only. */
import type { Model } from 'sequelize';
import type { Attribute, RelationName } from './attributes.js';

/** Places that rows without a value can have in an order. */
export const NULL_PLACES = ['first', 'last'] as const;

/** Place of the rows without a value, in both directions of an order. */
export type NullPlace = (typeof NULL_PLACES)[number];

/** Options of one name in `sortAllow`. */
export interface SortOptions {
  /**
   * Place of NULLs, for both directions alike. An index has to have the same place. Default: behind the largest value, which is last
   * where the order ascends, and first where it descends.
   */
  readonly nulls?: NullPlace;
  /**
   * Sorts a text by its small letters, as `lower` of the database makes them, and equal ones by the text itself. A column with a
   * collation that ignores case needs no option. Default: false.
   */
  readonly ignoreCase?: boolean;
}

/** Options of a value inside of a JSONB column. The name is the attribute and, behind a dot, a name for clients. */
export interface JsonSortOptions extends Pick<SortOptions, 'nulls'> {
  /**
   * The keys that lead to the value, which is sorted as text by its bytes (`COLLATE "C"`). Where nothing or `null` is there, it is NULL.
   *
   * @example ['city']
   */
  readonly json: readonly string[];
}

/**
 * The attributes that a client may sort by: a list of them, or an object with the order of each; true is the order of the column.
 *
 * @example ['id', 'name']
 * @example { name: true, population: { nulls: 'last' } }   // sort=-population has cities without one at the end
 * @example { title: { ignoreCase: true }, 'address.city': { json: ['city'] } }
 * @example { 'country.name': true }   // the name of the country, as sortAllow of Country has it; a relation to one record
 */
export type SortAllow<M extends Model> =
  | readonly Attribute<M>[]
  | (string extends Attribute<M>
      ? { readonly [name: string]: true | SortOptions | JsonSortOptions }
      : { readonly [A in Attribute<M>]?: true | SortOptions } & {
          readonly [P in `${Attribute<M>}.${string}`]?: JsonSortOptions;
        } & { readonly [P in `${RelationName<M>}.${string}`]?: true | Pick<SortOptions, 'nulls'> });
