/** One log line per failed request: enough to find the fault, without a value that a client sent. */
import type { Request } from 'express';
import { describeError } from '../../util/describe-error.js';
import type { Logger } from '../../util/logger.js';
import { describePath } from '../request/describe-path.js';

/** Logs what went wrong. */
export function logFailure(logger: Logger, error: unknown, request: Request, status: number): void {
  logger.error(`${request.method} ${describePath(request)} failed`, { status, ...describeError(error) });
}
