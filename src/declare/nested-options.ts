/** Options of children that are written with their parent. Nothing is checked or computed here. */

/** Options of one relation. */
export interface NestedOptions {
  /** Children of each record in a request. Default: 100. Behind a dot fewer, where 100 would make more than 1,000 rows with the relation before it. */
  max?: number;
  /**
   * True where any change of children raises the version of their parent once, so that `If-Match` of the parent is about them, too. Default:
   * true where the parent has a version.
   */
  touch?: boolean;
  /**
   * True where a PUT of the parent may give the whole list: items with an id are changed, others are created, and children that the list leaves out are
   * deleted, of the children that the request sees. Default: false.
   */
  replace?: boolean;
}

/**
 * The children that requests write together with their parent, by path: relations of `hasMany` and `hasOne` whose foreign key is in the
 * child, and required. At most two relations deep, and 1,000 rows. Each write meets the rules of the child's own resource: `can`,
 * `scope`, `visible`, `fields`, and its schemas.
 *
 * A ConfigError names a relation that is unknown or whose children may be without a parent, a path without the one before it, and a child
 * whose resource has code that a nested write would pass by: `dependencies`, an overridden method, a repository.
 *
 * @example
 * ```ts
 * nested: { lines: { max: 100 }, 'lines.discounts': true }
 * // POST  /orders    {"customerId":"4","lines":[{"productId":"7","qty":2}]}
 * // PATCH /orders/1  {"lines":{"create":[…],"update":[{"id":"3","qty":5}],"delete":["8"]}}
 * ```
 */
export type NestedAllow = Readonly<Record<string, true | NestedOptions>>;
