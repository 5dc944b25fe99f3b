/** Description of an error for logs: enough to find the fault, without a value that a client sent. */

/** Enough to see the causes of an error; a chain can be a ring. */
const MAX_DEPTH = 3;

/** Characters of a thrown text that a log line has. */
const LONGEST = 200;

/** A thrown value as an error: Express takes null, 'route' and 'router' for "no error, go on". @param source the code that has thrown it */
export function thrownError(thrown: unknown, source: string): object {
  if (typeof thrown === 'object' && thrown !== null) return thrown;
  return new TypeError(`${source} threw ${thrownValue(thrown)}, which is no error; throw new Error(…).`);
}

/** Text for a log of a thrown value that is no error: a text, or the message of an object, or its names without their values. */
function thrownValue(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null) {
      const { message } = thrown as { readonly message?: unknown };
      // The message of a database quotes values.
      if (databaseErrorOf(thrown as Error)) return 'an object';
      if (typeof message === 'string') return `an object with the message ${shortText(message)}`;
      return `an object with the properties ${shortText(Object.keys(thrown).join(', '))}, which is no error; throw new Error(…)`;
    }
    return typeof thrown === 'string' ? `the text ${shortText(thrown)}` : String(thrown);
  } catch {
    return 'an object that cannot be read';
  }
}

function shortText(text: string): string {
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

/** Describes a thrown value. Never throws itself: reading the value can. */
export function describeError(error: unknown, depth = MAX_DEPTH): object {
  try {
    if (!(error instanceof Error)) {
      const type = error === null ? 'null' : typeof error;
      return { error: `a thrown ${type}`, thrown: thrownValue(error) };
    }
    const { cause } = error;
    const errors = depth > 0 ? errorsIn(error).slice(0, MAX_DEPTH) : [];
    return {
      ...describeOne(error),
      ...(cause instanceof Error && depth > 0 ? { cause: describeError(cause, depth - 1) } : {}),
      ...(errors.length > 0 ? { errors: errors.map((each) => describeError(each, depth - 1)) } : {}),
    };
  } catch {
    return { error: 'an object that cannot be read' };
  }
}

/** Errors that an error was made of: an `AggregateError`, and Sequelize's error of one record among many. */
function errorsIn(error: Error): readonly Error[] {
  const { errors } = error as { errors?: unknown };
  return [errors].flat().filter((each) => each instanceof Error);
}

/**
 * Describes an error. A database error is its SQLSTATE, its names and the statement as it was prepared, because its message quotes values
 * ("invalid input syntax for type integer: …"), and so does SQL without bind parameters.
 */
function describeOne(error: Error): object {
  const source = databaseErrorOf(error);
  if (!source) return { error: error.name, stack: isQuoting(error) ? frames(error) : error.stack };
  const { code, table, column, constraint, routine, message, sql, parameters } = source;
  // Class 42, a statement that does not fit the schema: the message has names and no values, and names the missing part. A
  // function of the user's writes its own.
  const isSchemaError = typeof code === 'string' && code.startsWith('42') && routine !== 'exec_stmt_raise';
  // A `$1` in the statement proves nothing: a value that was written into it can hold one.
  const isPrepared = Array.isArray(parameters) && parameters.length > 0;
  return {
    error: error.name,
    code,
    ...(isSchemaError || source['name'] === 'FullPoolError' ? { reason: message } : {}),
    table,
    column,
    constraint,
    routine,
    ...(isPrepared ? { sql } : {}),
    stack: frames(error),
  };
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Error of the driver: wrapped by Sequelize, or the error itself, where code of the user's threw it bare. */
function databaseErrorOf(error: Error): Record<string, unknown> | null {
  const { parent, severity, code } = error as Error & Record<'parent' | 'severity' | 'code', unknown>;
  const isBare = typeof severity === 'string' && SQLSTATE.test(String(code));
  return (parent || (isBare ? error : null)) as Record<string, unknown> | null;
}

/** True where a message can quote values: the database's, a validator's, and one that was made of such a message. */
function isQuoting(error: Error, depth = MAX_DEPTH): boolean {
  if (databaseErrorOf(error) || isValidation(error)) return true;
  if (depth === 0) return false;
  return [error.cause, ...errorsIn(error)].some((inner) => {
    if (!(inner instanceof Error) || !isQuoting(inner, depth - 1)) return false;
    const { detail = inner.message } = databaseErrorOf(inner) ?? {};
    return [inner.message, `${detail}`].some((quoted) => error.message.includes(quoted));
  });
}

/** Sequelize's `ValidationError`, whose message is that of the validators. */
function isValidation(error: Error): boolean {
  const { errors } = error as { errors?: unknown };
  return Array.isArray(errors) && errors.some((item) => item instanceof Object && 'validatorKey' in item);
}

/** The stack without its first lines, which are the message. */
function frames({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}
