/** What a read asks for beside the id, parsed and checked against the plan. Frozen. */

/** The query of `GET /{id}`. */
export interface ReadQuery {
  /** The properties to answer with; null is all. */
  readonly fields: readonly string[] | null;
}
