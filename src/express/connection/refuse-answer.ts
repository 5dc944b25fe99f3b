/** The problem that takes the place of an answer for which the process has no room. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { SAFE_METHODS } from '../../request/request-sessions.js';
import { logFailure, sendProblem } from '../../respond/exception-handler.js';
import { toProblem } from '../../respond/problem.js';
import { hasRoom } from '../../util/memory-budget.js';

/** Text of the refusal. */
const NO_ROOM = 'Clients have not taken too many answers; try again.';

/** An error for a request that the process has no room to answer. */
export function refusal(): RefusedRequestError {
  return new RefusedRequestError(503, NO_ROOM, { 'Retry-After': '1' });
}

/** Answers 503. The head of the answer must not have been sent. */
export function refuseAnswer(response: ServerResponse): void {
  // Node's own server gives requests that are no Express requests only to listeners of the user's.
  const { req: request } = response as Response;
  const error = refusal();
  for (const name of ['ETag', 'Last-Modified', 'Cache-Control']) response.removeHeader(name);
  if ('app' in request) logFailure(request as Request, 503, error);
  sendProblem(request as Request, response as Response, toProblem(error));
}

/** A request that may write is not executed where its answer may have no room: afterwards it could not be refused. */
export function mustRefuse({ method }: IncomingMessage): boolean {
  return !SAFE_METHODS.has(method ?? '') && !hasRoom(0);
}
