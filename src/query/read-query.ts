/** What a read asks for beside the id, parsed and checked against the plan. Frozen. */

/** The query of `GET /{id}`. */
export interface ReadQuery {
  /** The properties to answer with, of those that the request may read; null is all there are. */
  readonly fields: readonly string[] | null;
}
