/** Issues of a request, and the errors that carry all of them at once. */

/** Where the problem is: in the body (a JSON pointer, RFC 6901), or in a parameter of the address, a header or a cookie. */
export type IssueLocation = { readonly pointer: string } | { readonly parameter: string };

/** A member of `errors` in a problem answer (RFC 9457, section 3). */
export type RequestIssue = IssueLocation & {
  /** A stable word for programs. */
  readonly code: string;
  /** A sentence for people. It never quotes the value that was sent in a body. */
  readonly detail: string;
  /** Offset in the parameter, in UTF-16 code units from 0, where the problem has a place. */
  readonly position?: number;
  /** Values that are allowed in the same place, where that is a short list. */
  readonly allowed?: readonly string[];
};

/** The JSON pointer of a property of the body. */
export function bodyPointer(...segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}

/** Place of an item in a body: its index, or the segments of its pointer; `'unknown'` has no known place. */
export type ItemPlace = number | 'unknown' | `${string}/${string}`;

/** Moves the issue of a record to its item of the body. */
export function withinItem(item: ItemPlace, issue: RequestIssue): RequestIssue {
  if (!('pointer' in issue)) return issue;
  // '' is the body as a whole.
  return { ...issue, pointer: item === 'unknown' ? '' : `/${item}${issue.pointer}` };
}

/** Issue of a body that has an attribute that the request may not set. */
export function readOnlyIssue(name: string): RequestIssue {
  return { pointer: bodyPointer(name), code: 'readOnly', detail: `${name} cannot be set.` };
}

/** Enough to act on; a request of thousands of mistakes is not answered with as many sentences. */
export const MAX_ISSUES = 100;
/** Characters of JSON in the problems of an answer. A single problem may list all names of a large resource. */
const MAX_CHARACTERS = 32_000;

/**
 * The problems that an answer shows: the first ones, and one at least.
 *
 * @param most how many they may be
 */
export function firstIssues(found: readonly RequestIssue[], most = MAX_ISSUES): readonly RequestIssue[] {
  if (found.length < 2) return found;
  let characters = 0;
  const end = found.findIndex((issue, index) => {
    characters += JSON.stringify(issue).length;
    return index > 0 && (index >= most || characters > MAX_CHARACTERS);
  });
  return end < 0 ? found : found.slice(0, end);
}

/**
 * A request that is wrong, or names a thing that does not exist: the answer has its `status`, and its `errors` as they are.
 *
 * @example
 * ```ts
 * if (error instanceof InvalidRequestError) log.info({ status: error.status, errors: error.errors });
 * ```
 */
export abstract class InvalidRequestError extends Error {
  abstract override readonly name: string;

  /** Every problem that was found. */
  readonly errors: readonly RequestIssue[];

  constructor(
    /** The status of the answer. */
    readonly status: number,
    subject: 'request' | 'body',
    errors: readonly RequestIssue[],
  ) {
    super(errors.length === 1 ? String(errors[0]?.detail) : `The ${subject} has ${errors.length} problems.`);
    this.errors = Object.freeze([...errors]);
  }
}

/**
 * A query string or a path that cannot be understood. 400.
 *
 * @example
 * ```ts
 * throw new InvalidQueryError([{ parameter: 'until', code: 'order', detail: 'until is before from.' }]);
 * ```
 */
export class InvalidQueryError extends InvalidRequestError {
  override readonly name: string = 'InvalidQueryError';

  constructor(errors: readonly RequestIssue[]) {
    super(400, 'request', errors);
  }
}

/**
 * A body that does not match the schema, or that a rule of yours refuses. 422. In a request of many records the answer names the
 * record, too: `/3/title`.
 *
 * @example
 * ```ts
 * override async create(values: CreateValues<Article>, context: CrudContext<Article>) {
 *   const issue = { pointer: '/title', code: 'banned', detail: 'This title is banned.' };
 *   if (await isBanned(values.title)) throw new InvalidBodyError([issue]);
 *   return super.create(values, context);
 * }
 * ```
 */
export class InvalidBodyError extends InvalidRequestError {
  override readonly name = 'InvalidBodyError';

  constructor(errors: readonly RequestIssue[]) {
    super(422, 'body', errors);
  }
}

/** The error of a body that is a list or a single value. */
export function notAnObject(): InvalidBodyError {
  return new InvalidBodyError([{ pointer: '', code: 'isObject', detail: 'The body must be a JSON object.' }]);
}

/** The error of one attribute of a body. */
export function invalidAttribute(name: string, code: string, detail: string): InvalidBodyError {
  return new InvalidBodyError([{ pointer: bodyPointer(name), code, detail }]);
}

/** A body that cannot be read at all, before any schema checks it. */
export class BodyError extends InvalidRequestError {
  override readonly name = 'BodyError';

  constructor(status: 400 | 413 | 415, code: string, detail: string) {
    super(status, 'body', [{ pointer: '', code, detail }]);
  }
}
