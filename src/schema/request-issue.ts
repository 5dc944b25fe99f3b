/** One thing that is wrong with a request. */

/** Where the problem is: in the body (a JSON pointer, RFC 6901) or in a query parameter. */
export type IssueLocation = { readonly pointer: string } | { readonly parameter: string };

/** A member of `errors` in a problem answer (RFC 9457, section 3). */
export type RequestIssue = IssueLocation & {
  /** A stable word for programs. */
  readonly code: string;
  /** A sentence for people. It never quotes the value that was sent in a body. */
  readonly detail: string;
  /** Offset in the parameter, in UTF-16 code units from 0, where the problem has a place. */
  readonly position?: number;
  /** What could stand there instead, where that is a short list. */
  readonly allowed?: readonly string[];
};

/** The JSON pointer of a property of the body. */
export function bodyPointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}
