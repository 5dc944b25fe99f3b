/** Options of the reading methods of `Repository`. */
import type { Attributes, Includeable, Model, OrderItem } from 'sequelize';
import type { Where } from '../../declare/attributes.js';
import type { Deleted } from '../../request/query/list-query.js';
import type { RelationsToLoad } from './relations-to-load.js';

/** Options of `Repository.list`. */
export interface ListOptions<M extends Model> {
  where?: Where<M>;
  /** Default: the primary key, ascending. */
  order?: OrderItem[];
  limit?: number;
  offset?: number;
  /** Relations to load along. */
  include?: Includeable | Includeable[];
  /** Soft-deleted rows: them only, or them among the others. Rows that are loaded along are none. Default: none of them. */
  deleted?: Deleted;
}

/** Options of `get` and `find`. */
export interface FindByKeyOptions<M extends Model = Model> {
  /** The attributes that are read. Default: all. */
  readonly fields?: readonly (keyof Attributes<M> & string)[];
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
  /** Soft deletion of the row: `only` requires it, `with` allows it. Default: the row is not soft-deleted. */
  readonly deleted?: Deleted | undefined;
}
