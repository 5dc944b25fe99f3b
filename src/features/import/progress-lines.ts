/** The answer of an import as JSON lines: one for each chunk, and at last the result. */
import type { Request, Response } from 'express';
import { MEDIA_TYPES } from '../../declare/export-options.js';
import { setDefaultHeaders } from '../../request/standard-headers.js';
import { requestProblem } from '../../respond/exception-handler.js';
import { handedProblem } from '../../respond/problem.js';
import { itemProblem, logFailure } from '../../respond/send-problem.js';
import type { ImportSummary } from './import-report.js';

/** True for a client that prefers lines to one JSON object. */
export function wantsProgress(request: Request): boolean {
  return request.accepts('application/json', MEDIA_TYPES.ndjson) === MEDIA_TYPES.ndjson;
}

/** Lines of an answer. Its head is sent with the first one, so that an earlier error is an ordinary problem. */
export class ProgressLines {
  readonly #request: Request;
  readonly #response: Response;

  constructor(request: Request, response: Response) {
    this.#request = request;
    this.#response = response;
  }

  write({ rows, created, updated, failed }: ImportSummary): void {
    this.#line({ rows, created, updated, failed });
  }

  end(summary: ImportSummary): true {
    this.#line({ ...summary, complete: true });
    this.#response.end();
    return true;
  }

  /** Writes a problem as the last line; false where no line was sent, or the client has gone. */
  fail(error: unknown): boolean {
    if (!this.#response.headersSent) return false;
    const problem = handedProblem(error) ?? requestProblem(error, this.#request);
    if (problem === null) return false;
    if (problem.status >= 500) logFailure(this.#request, problem.status, error);
    const body = itemProblem(problem, this.#request, this.#response);
    this.#line({ complete: false, status: problem.status, problem: body });
    this.#response.end();
    return true;
  }

  #line(value: object): void {
    const response = this.#response;
    if (!response.headersSent) {
      response.status(200);
      response.setHeader('Content-Type', MEDIA_TYPES.ndjson);
      response.setHeader('X-Accel-Buffering', 'no');
      setDefaultHeaders(response);
    }
    response.write(`${JSON.stringify(value)}\n`);
  }
}
