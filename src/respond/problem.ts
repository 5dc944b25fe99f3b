/** Any error -> the answer a client gets (RFC 9457). An error that is not understood is a 500 that says nothing. */
import { STATUS_CODES } from 'node:http';
import { ValidationError } from 'class-validator';
import { HttpError } from 'routing-controllers';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { isTextBase } from '../describe/type-difference.js';
import { type DatabaseFault, describeFault, type FaultKind, isBusy } from '../errors/database-fault.js';
import {
  ConcurrentModificationError,
  MultipleResultsFound,
  NotFoundError,
  NotStoredError,
  PersistenceError,
} from '../errors/errors.js';
import { refusedAttributes } from '../errors/refused-attributes.js';
import { NotDeletedError } from '../features/soft-delete/restore-and-purge.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { parseQueryString } from '../request/query/query-string.js';
import type { ShownNames } from '../request/request-notes.js';
import { classProperties } from '../schema/class-properties.js';
import { writableAttributes } from '../schema/derive-class.js';
import { bodyPointer, firstIssues, InvalidRequestError, type RequestIssue } from '../schema/request-issue.js';
import { quotesValue } from '../util/quoted-value.js';

/** An answer to a request that failed. */
export interface Problem {
  /** From 400 to 599. */
  readonly status: number;
  /** A sentence for the developer of the client. */
  readonly detail: string;
  /** Everything that is wrong with the request. Default: `detail` says it all. */
  readonly errors?: readonly RequestIssue[];
  /** Other members of the body, such as the counts of an import. Default: none. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Headers of the answer, such as `Allow` and `Retry-After`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to an error that is not understood. */
export const UNEXPECTED: Problem = Object.freeze({ status: 500, detail: 'Internal Server Error' });

/** Seconds. */
const AGAIN = Object.freeze({ 'Retry-After': '1' });

const UNAVAILABLE: Problem = Object.freeze({
  status: 503,
  detail: 'The database is not available; try again.',
  headers: AGAIN,
});

const BUSY: Problem = Object.freeze({
  status: 503,
  detail: 'The database is busy; try again.',
  headers: AGAIN,
});

const FAULTS: Readonly<Record<FaultKind, Problem>> = {
  unique: { status: 409, detail: 'Another record has the same unique value.' },
  foreignKey: {
    status: 409,
    detail: 'The record refers to one that does not exist, or is still referred to by others.',
  },
  exclusion: { status: 409, detail: 'The record conflicts with another one.' },
  concurrent: { status: 409, detail: 'Somebody else changed the data at the same time; try again.' },
  locked: BUSY,
  invalid: { status: 422, detail: 'The database does not accept these values.' },
  refused: { status: 422, detail: 'A rule of the database refuses this.' },
  forbidden: { status: 403, detail: 'The database does not allow you to do this.' },
  readOnly: UNAVAILABLE,
  unavailable: UNAVAILABLE,
  full: { status: 503, detail: 'Too many requests wait for the database; try again.', headers: AGAIN },
  tooLarge: {
    status: 400,
    detail:
      'The answer would be too large: ask for fewer records, or for fewer of their fields with fields. The option pageSize.max limits the records of a page.',
  },
  noMemory: {
    status: 503,
    detail:
      'There is no memory for so many large records at once; try again, or ask for fewer records or fields.',
    headers: AGAIN,
  },
  timeout: { status: 504, detail: 'The database did not answer in time.' },
  unexpected: UNEXPECTED,
};

/** Sentences about one attribute, where the constraint names it. */
const REFUSALS: Readonly<Partial<Record<FaultKind, (resource: string, attribute: string) => string>>> = {
  unique: (resource, attribute) => `Another ${resource} has the same ${attribute}.`,
  foreignKey: (_resource, attribute) => `The value of ${attribute} refers to a record that does not exist.`,
  invalid: (_resource, attribute) => `The database does not accept the value of ${attribute}.`,
};

/** routing-controllers quotes the text that it cannot read a parameter from, which may be the secret of a body. */
const QUOTING = /^(Given parameter .*? is invalid\.) Value \(.*\) (cannot be parsed into \w+\.)$/s;

interface ProblemContext {
  /** The resource whose attributes the error may be about. */
  readonly plan?: ResourcePlan | undefined;
  /** Attributes that the problem may name. Default: all. */
  readonly told?: ShownNames;
  /** True where the request should only have read, so that a refused write is a mistake in the code. */
  readonly isSafe?: boolean;
  /** The request target. */
  readonly target?: string;
}

/** Problems of errors that were handed to the application. */
const HANDED = new WeakMap<object, Problem>();

/** Remembers the problem of an error, as its request explains it. */
export function noteProblem(error: object, problem: Problem): object {
  HANDED.set(error, problem);
  return error;
}

/** The problem of an error that was handed to the application. */
export function handedProblem(error: unknown): Problem | undefined {
  return typeof error === 'object' && error !== null ? HANDED.get(error) : undefined;
}

/**
 * The answer of this package to an error: persistence errors, `HttpError`s, errors of Express, refusals of the
 * database, and 500 without details for the rest. It never throws. An error that `problem: 'next'` has handed over has the
 * problem of its request, which names the properties that it is about.
 *
 * @example
 * ```ts
 * app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
 *   const { status, detail, headers = {} } = problemOf(error);
 *   response.status(status).set(headers).json({ message: detail });
 * });
 * ```
 */
export function problemOf(error: unknown): Problem {
  try {
    return handedProblem(error) ?? toProblem(error);
  } catch {
    return UNEXPECTED;
  }
}

/** The answer to an error of any kind, null and strings included. */
export function toProblem(error: unknown, context: ProblemContext = {}): Problem {
  return shortened(wholeProblem(error, context));
}

/**
 * A problem with as many errors as are worth reading, which says so where there are more.
 *
 * @param most how many they may be
 */
export function shortened(problem: Problem, most?: number): Problem {
  const { errors = [] } = problem;
  const told = firstIssues(errors, most);
  if (told === errors) return problem;
  const detail = `There are more problems than are told; errors has the first ${told.length}.`;
  return { ...problem, detail, errors: told };
}

function wholeProblem(error: unknown, context: ProblemContext): Problem {
  const { isSafe = false } = context;
  if (error instanceof PersistenceError) return { status: statusFor(error), detail: error.message };
  if (error instanceof RefusedRequestError) {
    return { status: error.status, detail: error.message, headers: error.headers };
  }
  if (error instanceof InvalidRequestError) {
    return { status: error.status, detail: error.message, errors: error.errors };
  }
  const fault = describeFault(error);
  if (fault?.kind === 'readOnly' && isSafe) return UNEXPECTED;
  // A request that only reads has no part in the changes of others.
  if (fault && isSafe && isBusy(fault)) return BUSY;
  const refused = fault?.kind === 'invalid' && isSafe ? refusedFilters(context) : null;
  if (fault) return refused ?? faultProblem(fault, context);
  return httpErrorProblem(error) ?? middlewareProblem(error) ?? UNEXPECTED;
}

/** PostgreSQL has refused a value that a read compares: the type of a column does not read it. Null for a request without filters. */
function refusedFilters({ plan, told = ALL_TOLD, target = '' }: ProblemContext): Problem | null {
  const filters = [...parseQueryString(target).parameters].filter(([name]) => /(?:^|\.)q$/.test(name));
  if (!plan) return null;
  const { info } = plan;
  const compared = [...plan.filters];
  const related = [...plan.relations.filters.keys()];
  const errors = filters.flatMap(([parameter, text]) => {
    const columns = compared.flatMap(([name, { attribute }]) => {
      const found = info.attributes.get(attribute)?.found;
      const isNamed = parameter === 'q' && text.includes(name) && !told.hidden.has(attribute);
      return found && isNamed && !isTextBase(found.baseType) ? [`'${name}' is ${found.type}`] : [];
    });
    const isRelated = related.some((name) => text.includes(name));
    // Another value of the request may be the wrong one.
    if (parameter === 'q' && columns.length === 0 && !isRelated) return [];
    const types = columns.length > 0 ? ` (${columns.join(', ')})` : '';
    const detail = `PostgreSQL does not accept a value in ${parameter} for its column${types}.`;
    return [{ parameter, code: 'q.type', detail }];
  });
  const [only] = errors;
  if (!only) return null;
  const detail = errors.length > 1 ? 'PostgreSQL does not accept a value of the request.' : only.detail;
  return { status: 400, detail, errors };
}

function faultProblem(fault: DatabaseFault, { plan, told = ALL_TOLD }: ProblemContext): Problem {
  const problem = FAULTS[fault.kind];
  // A failure of the server is about no value.
  if (problem.status >= 500) return problem;
  const missing = missingNames(fault, plan, told);
  const hidden = new Set([...told.hidden, ...missing, ...hiddenNames(plan)]);
  const errors = [
    // PostgreSQL names the first.
    ...missing.slice(0, 1).map(missingIssue),
    ...violationIssues(fault, plan, hidden),
    ...refusalIssues(fault, problem, plan, hidden),
  ];
  if (errors.length === 0) return problem;
  const [only] = errors;
  return { ...problem, detail: errors.length === 1 && only ? only.detail : problem.detail, errors };
}

const ALL_TOLD: ShownNames = Object.freeze({ hidden: new Set<string>(), unwritable: new Set<string>() });

/** Attributes that a row needs and the request may not set. The error of Sequelize or of the database names them. */
function missingNames(
  fault: DatabaseFault,
  plan: ResourcePlan | undefined,
  { unwritable }: ShownNames,
): readonly string[] {
  if (!plan || fault.kind !== 'invalid' || unwritable.size === 0) return [];
  const absent = fault.violations.flatMap(({ rule, attribute }) => (rule === 'is_null' ? attribute : null));
  const names = [...absent, ...(fault.column === null ? [] : refusedAttributes(plan.info, fault))];
  return [...plan.info.attributes.keys()].filter((name) => unwritable.has(name) && names.includes(name));
}

function missingIssue(name: string): RequestIssue {
  const detail = `${name} is required, and this request may not set it.`;
  return { pointer: bodyPointer(name), code: 'readOnly', detail };
}

/** Attributes that no request can see or set. */
function hiddenNames(plan: ResourcePlan | undefined): readonly string[] {
  if (!plan) return [];
  const { info, exposure, hidden, explicitSchemas, access } = plan;
  const bodies = (['create', 'update'] as const).map((kind) => {
    const schema = explicitSchemas[kind];
    if (schema) return classProperties(schema, 'write');
    return new Set(writableAttributes(info, exposure, kind).map(({ name }) => name));
  });
  // The server writes these, whatever a body may have.
  const isGiven = (name: string) => access?.scope.has(name) === true || access?.set.has(name) === true;
  return [...hidden].filter((name) => isGiven(name) || !bodies.some((names) => names.has(name)));
}

/** Rules of Sequelize's `validate`; one of the whole model names itself where another names its attribute. */
function violationIssues(
  { violations }: DatabaseFault,
  plan: ResourcePlan | undefined,
  hidden: ReadonlySet<string>,
): RequestIssue[] {
  const told = violations.filter(({ attribute }) => attribute === null || !hidden.has(attribute));
  return told.map(({ attribute, rule, message }) => ({
    pointer:
      attribute === null || plan?.info.attributes.has(attribute) === false ? '' : bodyPointer(attribute),
    code: rule,
    detail: message,
  }));
}

/** One issue for each attribute that the database refused and the client can see or set. */
function refusalIssues(
  fault: DatabaseFault,
  { detail }: Problem,
  plan: ResourcePlan | undefined,
  hidden: ReadonlySet<string>,
): RequestIssue[] {
  if (!plan) return [];
  return refusedAttributes(plan.info, fault)
    .filter((name) => !hidden.has(name))
    .map((name) => ({
      pointer: bodyPointer(name),
      code: fault.kind,
      detail: REFUSALS[fault.kind]?.(plan.name, name) ?? detail,
    }));
}

/** routing-controllers recommends to identify its errors by shape: two copies of it in one tree have two classes. */
function httpErrorProblem(error: unknown): Problem | undefined {
  const { httpCode, message, errors } = (error ?? {}) as Partial<HttpError> & { errors?: unknown };
  if (typeof httpCode !== 'number' || !isErrorStatus(httpCode)) return undefined;
  const detail =
    typeof message === 'string' && message !== ''
      ? message.replace(QUOTING, '$1 It $2')
      : (STATUS_CODES[httpCode] ?? 'Error');
  const failures = Array.isArray(errors)
    ? errors.filter((failure) => failure instanceof ValidationError)
    : [];
  if (failures.length === 0 || httpCode >= 500) return { status: httpCode, detail };
  return {
    status: httpCode,
    detail: 'The request has problems.',
    errors: failures.flatMap((each) => validationIssues(each)),
  };
}

/** Issues that class-validator found in a parameter of a hand-written route; never the value itself. */
function validationIssues(failure: ValidationError, path: readonly string[] = []): RequestIssue[] {
  const { property, value, constraints, children } = failure;
  // A parameter's own validation options may hide the value, and then any message may quote it.
  const mayQuote = (message: string) => !Object.hasOwn(failure, 'value') || quotesValue(message, value);
  const own = property === undefined ? path : [...path, property];
  const issues = Object.entries(constraints ?? {}).map(([code, message]) => ({
    pointer: bodyPointer(...own),
    code,
    detail: mayQuote(message) ? `${property} is not valid` : message,
  }));
  return [...issues, ...(children ?? []).flatMap((child) => validationIssues(child, own))];
}

const UNREADABLE = [
  'unreadable',
  'The body could not be read; it is incomplete or not encoded as announced.',
] as const;

/** Codes and words for the errors of `body-parser`, as our own reader has them. */
const PARSER_ERRORS = new Map<unknown, readonly [code: string, detail: string]>([
  ['entity.parse.failed', ['malformed', 'The body is not valid JSON.']],
  ['entity.too.large', ['tooLarge', 'The body is too large.']],
  ['encoding.unsupported', ['encoding', 'The Content-Encoding must be gzip, deflate, br or identity.']],
  ['charset.unsupported', ['charset', 'The body must be in UTF-8 (RFC 8259, section 8.1).']],
  ['request.size.invalid', UNREADABLE],
  ['request.aborted', UNREADABLE],
]);

/** Errors of Express and its middleware (http-errors): a status, and a mark for messages that may be shown. */
function middlewareProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error)) return undefined;
  const { status, expose, type, code: kind, field = '' } = error as Error & Record<string, unknown>;
  // Errors of multer and of its parser have no status.
  if (/^(?:Unexpected end of form|Multipart: Boundary not found)$/.test(error.message))
    return { status: 400, detail: UNREADABLE[1] };
  if (error.name === 'MulterError')
    return { status: kind === 'LIMIT_FILE_SIZE' ? 413 : 400, detail: `Upload '${field}': ${error.message}.` };
  if (typeof status !== 'number' || !isErrorStatus(status)) return undefined;
  const [code, words] = PARSER_ERRORS.get(type) ?? [];
  if (code && words) return { status, detail: words, errors: [{ pointer: '', code, detail: words }] };
  if (error instanceof URIError)
    return { status: 400, detail: 'The path is not valid percent-encoded UTF-8.' };
  const detail = expose === true && error.message !== '' ? error.message : (STATUS_CODES[status] ?? 'Error');
  return { status, detail };
}

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

const CONFLICTS = [MultipleResultsFound, ConcurrentModificationError, NotDeletedError, NotStoredError];

/**
 * The status of an error: 404 for `NotFoundError`, 409 for `MultipleResultsFound`, `ConcurrentModificationError`,
 * `NotDeletedError` and `NotStoredError`, and 500 for everything else.
 *
 * @example
 * ```ts
 * statusFor(new NotFoundError('There is no City with this id.')); // 404
 * ```
 */
export function statusFor(error: unknown): number {
  if (error instanceof NotFoundError) return 404;
  return CONFLICTS.some((each) => error instanceof each) ? 409 : 500;
}

/**
 * A persistence error as a routing-controllers `HttpError`, for hand-written code that throws those. Any other error
 * becomes a 500 that says nothing of it; it is kept as the `cause`.
 *
 * @example
 * ```ts
 * throw httpExceptionFor(error);
 * ```
 */
export function httpExceptionFor(error: unknown): HttpError {
  const message = error instanceof PersistenceError ? error.message : 'Internal Server Error';
  return Object.assign(new HttpError(statusFor(error), message), { cause: error });
}
