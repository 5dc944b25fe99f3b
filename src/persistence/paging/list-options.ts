/** What the methods of `Repository` read. */
import type { Attributes, Includeable, Model, OrderItem } from 'sequelize';
import type { Where } from '../../metadata/attributes.js';
import type { Deleted } from '../../query/list-query.js';
import type { RelationsToLoad } from './relations-to-load.js';

/** What `Repository.list` takes. */
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

/** What `get` and `find` take. */
export interface FindByKeyOptions<M extends Model = Model> {
  /** The attributes that are read. Default: all. */
  readonly fields?: readonly (keyof Attributes<M> & string)[];
  /** Relations to load along, with one statement for each. Default: none. */
  readonly include?: RelationsToLoad | undefined;
  /** Whether it has to be a soft-deleted row (`only`), or may be one (`with`). Default: it is none. */
  readonly deleted?: Deleted | undefined;
}
