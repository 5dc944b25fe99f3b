/** A span in the form that the tests compare, from whatever tracer. */

/** A span that has ended. */
export interface TracedSpan {
  readonly id: string;
  readonly parent: string | null;
  readonly name: string;
  /** The statement; empty for a span of something else. */
  readonly text: string;
  /** Values of its parameters; null for a tracer that records none. */
  readonly values: readonly string[] | null;
  readonly isError: boolean;
  /** For the span of a request: the value of its header `x-case`. */
  readonly request: string | null;
}
