/** One log line per failed request: enough to find the fault, without a value that a client sent. */
import type { Request } from 'express';
import type { Logger } from '../plan/logger.js';

/** Logs what went wrong. The path is the route's template, because a path holds ids. */
export function logFailure(logger: Logger, error: unknown, request: Request, status: number): void {
  const route: unknown = request.route?.path;
  try {
    logger.error(`${request.method} ${request.baseUrl}${typeof route === 'string' ? route : ''} failed`, {
      status,
      ...describeSafely(error),
    });
  } catch {
    // A logger that fails must not take the answer with it.
  }
}

/** Enough to see what an error was made of; a chain can be a ring. */
const MAX_CAUSES = 3;

/** Reading what was thrown can itself throw. */
function describeSafely(error: unknown, causes = MAX_CAUSES): object {
  try {
    const { cause } = (error ?? {}) as { cause?: unknown };
    const isCaused = cause instanceof Error && causes > 0;
    return { ...describeError(error), ...(isCaused ? { cause: describeSafely(cause, causes - 1) } : {}) };
  } catch {
    return { error: 'an object that cannot be read' };
  }
}

/**
 * What may be logged of an error. Of a database error the SQLSTATE, the names and the statement as it was prepared:
 * its message quotes values ("invalid input syntax for type integer: …"), and so does SQL without bind parameters.
 */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { error: `a thrown ${error === null ? 'null' : typeof error}` };
  const { parent } = error as { parent?: Record<string, unknown> };
  if (!parent) return { error: error.name, stack: error.stack };
  const { code, table, column, constraint, routine, message, sql, parameters } = parent;
  // Class 42, a statement that does not fit the schema: the message has names and no values, and says what is missing.
  const isSchemaError = typeof code === 'string' && code.startsWith('42');
  // A `$1` in the statement proves nothing: a value that was written into it can hold one.
  const isPrepared = Array.isArray(parameters) && parameters.length > 0;
  return {
    error: error.name,
    code,
    ...(isSchemaError ? { reason: message } : {}),
    table,
    column,
    constraint,
    routine,
    ...(isPrepared ? { sql } : {}),
    stack: frames(error),
  };
}

/** The stack without its first lines, which are the message. */
function frames({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}
