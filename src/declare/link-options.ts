/** Options of links between records. Nothing is checked or computed here. */
import type { AccessRule } from './access-options.js';

/**
 * Links of one relation.
 *
 * @example { max: 200, can: { add: isStaff, remove: isStaff }, fields: ['role'] }
 */
export interface LinkOptions {
  /** Links in the array of a `POST`, from 1 to 1000. A longer one is 413. A `PUT` may have 1000 whatever this says. Default: 100. */
  max?: number;
  /**
   * Rules of this relation, in the place of `can.links`. `add` holds for a `POST`, and for a `PUT` of one link; `remove` for a `DELETE`; both for a `PUT` of
   * all links. Default: `can.links`, and that of `can.update` where it is not named.
   *
   * @example { add: isStaff, remove: isStaff }
   */
  can?: { readonly add?: AccessRule; readonly remove?: AccessRule };
  /**
   * Attributes of the join model that bodies and answers have. Default: all but keys, timestamps, the version, and hidden attributes; answers
   * have no value that code replaces. A join model with a `toJSON` or `get` of its own needs it.
   *
   * @example ['role']
   */
  fields?: readonly string[];
  /** True where a change of links raises the version of the record, and `If-Match` is checked. Needs a version. Default: false. */
  touch?: boolean;
  /** True where a `PUT` or a `POST` may take the child of another record, of a `hasMany`. Default: false, and such a child is 409. */
  steal?: boolean;
}

/**
 * Relations whose links clients may change: `belongsToMany`, and `hasMany` whose foreign key may be null.
 *
 * @example { groups: true, tags: { fields: ['role'] } }
 */
export interface LinkAllow {
  readonly [relation: string]: true | LinkOptions;
}
