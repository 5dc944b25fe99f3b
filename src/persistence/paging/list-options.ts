/** The rows that `Repository.list` gives. */
import type { Attributes, Includeable, Model, OrderItem, WhereOptions } from 'sequelize';

/** What `Repository.list` takes. */
export interface ListOptions<M extends Model> {
  where?: WhereOptions<Attributes<M>>;
  /** Default: the primary key, ascending. */
  order?: OrderItem[];
  limit?: number;
  offset?: number;
  /** Relations to load along. */
  include?: Includeable | Includeable[];
}
