/** Writes problems: in the standard form, or as the application shapes them. */
import { ServerResponse } from 'node:http';
import type { Application, Request, Response } from 'express';
import { applicationChain } from '../request/express-internals.js';
import { describePath, requestLogger } from '../request/request-log.js';
import { DEFAULT_HEADERS, requestId, sendRequestId, setDefaultHeaders } from '../request/standard-headers.js';
import { failureLog } from './failure-log.js';
import { type Problem, UNEXPECTED } from './problem.js';

/** The option `problem` of `bootstrap`. */
export type ProblemOption =
  | ((problem: Problem, request: Request, response: Response) => unknown)
  /** Errors go on to the error handlers of the application. */
  | 'next';

const OPTIONS = new WeakMap<Application, ProblemOption>();

/** Remembers the option of an application. */
export function setProblemOption(app: Application, option: ProblemOption): void {
  OPTIONS.set(app, option);
}

/** The option of an application itself. */
export function ownProblemOption(app: Application): ProblemOption | undefined {
  return OPTIONS.get(app);
}

/** The option of an application, or of the nearest one that it is mounted in. */
export function problemOption(app: Application | undefined): ProblemOption | undefined {
  if (app === undefined) return undefined;
  for (const each of applicationChain(app)) {
    const option = OPTIONS.get(each);
    if (option) return option;
  }
  return undefined;
}

/** Writes a failed request to a logger. Default: that of the resource of the request. */
export function logFailure(
  request: Request,
  status: number,
  reason: unknown,
  logger = requestLogger(request),
): void {
  const route = `${request.method} ${describePath(request)}`;
  failureLog(logger).add({ route, requestId: requestId(request), status, reason });
}

/** The body that the application's function makes of a problem, as JSON; null where the standard one is sent. */
function shapedText(problem: Problem, request: Request, response: Response): string | null {
  const shape = problemOption(request.app);
  if (typeof shape !== 'function') return null;
  const { headersSent } = response;
  try {
    const body = shape({ ...problem }, request, response);
    // It has answered by itself.
    if (response.headersSent !== headersSent) return null;
    if (body instanceof Promise) {
      body.catch(() => {});
      throw new TypeError('The function problem of bootstrap returned a promise; return the body itself.');
    }
    const text: string | undefined = JSON.stringify(body);
    if (text === undefined) {
      throw new TypeError(`The function problem of bootstrap returned ${typeof body}; return the body.`);
    }
    return text;
  } catch (failure) {
    logFailure(request, problem.status, failure);
    if (!response.headersSent) response.removeHeader('Content-Type');
    return null;
  }
}

/** The problem of one item, in an answer of another status and type. */
export function itemProblem(problem: Problem, request: Request, response: Response): unknown {
  const { statusCode } = response;
  const type = response.getHeader('Content-Type');
  const text = shapedText(problem, request, response);
  response.statusCode = statusCode;
  if (response.headersSent) return text === null ? problemBody(problem) : JSON.parse(text);
  if (type === undefined) response.removeHeader('Content-Type');
  else response.setHeader('Content-Type', type);
  return text === null ? problemBody(problem) : JSON.parse(text);
}

function problemBody({ detail, errors, members }: Problem): object {
  return { detail, ...members, ...(errors ? { errors } : {}) };
}

/** Headers about the bytes of an answer. `Content-Security-Policy` is none of them. */
const CONTENT_HEADERS = [
  'Content-Type',
  'Content-Length',
  'Content-Encoding',
  'Content-Disposition',
  'Content-Language',
  'Content-Range',
  'Content-Location',
  'Content-MD5',
  'Content-Digest',
];

/** Removes headers of an answer that is not sent. */
export function dropContentHeaders(response: Response): void {
  for (const name of CONTENT_HEADERS) response.removeHeader(name);
}

/** Writes a problem: as `application/problem+json` (RFC 9457), or as the application shapes it. */
export function sendProblem(request: Request, response: Response, problem: Problem): void {
  const { status, headers = {} } = problem;
  dropContentHeaders(response);
  for (const name in headers) response.setHeader(name, headers[name] as string);
  // The rest of a body that is too large is not read (RFC 9110, 15.5.14), so the connection cannot be used again.
  if (status === 413 && !request.complete) response.setHeader('Connection', 'close');
  // A router without `bootstrap` has not answered with it, and the log names it.
  if (status >= 500) sendRequestId(request, response);
  response.statusCode = status;
  setDefaultHeaders(response);
  const shaped = shapedText(problem, request, response);
  if (response.headersSent) return;
  const body = Buffer.from(shaped ?? JSON.stringify(problemBody(problem)));
  response.statusCode = status;
  if (shaped === null) response.setHeader('Content-Type', 'application/problem+json');
  // The function makes any JSON, which is no problem of RFC 9457 unless it says so.
  else if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', PLAIN_JSON);
  response.setHeader('Content-Length', body.length);
  response.end(request.method === 'HEAD' ? undefined : body);
}

const PLAIN_JSON = 'application/json; charset=utf-8';

/** Node's own methods: the methods that middlewares have put in their place may have failed. */
const { end, getHeaderNames, removeHeader, setHeader, writeHead } = ServerResponse.prototype;

/** Answers 500 when the answer itself could not be written; where half of one went out, the connection is cut. */
export function sendBareFailure({ method }: Request, response: Response): void {
  if (response.writableEnded) return;
  try {
    if (response.headersSent) throw new TypeError('The head has been sent.');
    const body = JSON.stringify({ detail: UNEXPECTED.detail });
    for (const name of getHeaderNames.call(response)) removeHeader.call(response, name);
    const headers = {
      ...DEFAULT_HEADERS,
      'Content-Type': 'application/problem+json',
      'Content-Length': Buffer.byteLength(body),
    };
    for (const [name, value] of Object.entries(headers)) setHeader.call(response, name, value);
    writeHead.call(response, UNEXPECTED.status);
    Reflect.apply(end, response, method === 'HEAD' ? [] : [body]);
  } catch {
    response.destroy();
  }
}
