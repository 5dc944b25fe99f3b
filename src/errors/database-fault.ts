/**
 * Meaning of a database error, by SQLSTATE and by the driver's connection messages. Never by PostgreSQL's `detail`,
 * which holds values, is translated, and cannot be parsed reliably.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
import {
  BaseError,
  ConnectionError,
  EmptyResultError,
  OptimisticLockError,
  ValidationError,
} from 'sequelize';
import { quotesValue } from '../util/quoted-value.js';

/** Kind of a fault, in terms a client or an operator can act on. */
export type FaultKind =
  | 'unique'
  | 'foreignKey'
  | 'exclusion'
  | 'concurrent'
  | 'locked'
  | 'invalid'
  | 'refused'
  | 'forbidden'
  | 'readOnly'
  | 'unavailable'
  | 'full'
  | 'timeout'
  | 'tooLarge'
  | 'noMemory'
  | 'unexpected';

/** A database error, understood. */
export interface DatabaseFault {
  readonly kind: FaultKind;
  /** Names of constraints, tables or columns that refused: for finding the attributes, not for showing. */
  readonly constraint: string | null;
  readonly table: string | null;
  readonly column: string | null;
  /** True where the same transaction, run again, may succeed: a serialization failure or a deadlock. */
  readonly isRetryable: boolean;
  /** Failed Sequelize `validate` rules. */
  readonly violations: readonly Violation[];
}

interface Violation {
  readonly attribute: string | null;
  readonly rule: string;
  readonly message: string;
}

interface DriverError {
  readonly code?: unknown;
  readonly message?: unknown;
  /** The function of PostgreSQL's source that reports. */
  readonly routine?: unknown;
  readonly constraint?: unknown;
  readonly table?: unknown;
  readonly column?: unknown;
  /** Context of the error in PostgreSQL, a line for each level. */
  readonly where?: unknown;
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The state of our own error of a result, of class 54, which is that of limits. PostgreSQL has none with a Z. */
export const RESULT_TOO_LARGE = '54Z01';
/** The same of one that there is no memory for. */
export const HEAP_FULL = '54Z02';

const FAULT_BY_STATE: Readonly<Record<string, FaultKind>> = {
  '23505': 'unique',
  '23503': 'foreignKey',
  '23001': 'foreignKey',
  '23P01': 'exclusion',
  '23502': 'invalid',
  '23514': 'invalid',
  // The check option of a view.
  '44000': 'invalid',
  // A value too long for an index, a row or its type.
  '54000': 'invalid',
  [RESULT_TOO_LARGE]: 'tooLarge',
  [HEAP_FULL]: 'noMemory',
  // A function raises this code where it names none of its own.
  P0001: 'refused',
  // Serialization failure (for a read on a replica: its recovery came into the way), deadlock.
  '40001': 'concurrent',
  '40P01': 'concurrent',
  // A lock was not available in time.
  '55P03': 'locked',
  // A write in a read-only transaction, which is every one of a standby.
  '25006': 'readOnly',
  // A statement that ran into its timeout.
  '57014': 'timeout',
  // A transaction that was idle or open for too long, an error of a disk, and a commit without a known result.
  '25P03': 'unavailable',
  '25P04': 'unavailable',
  '58030': 'unavailable',
  '40003': 'unavailable',
};

/** By class of SQLSTATE, where all of a class mean the same. */
const FAULT_BY_CLASS: Readonly<Record<string, FaultKind>> = {
  '08': 'unavailable',
  '22': 'invalid',
  // Too many connections, or too little of something else.
  '53': 'unavailable',
  // The server going down or not up yet, a session that was idle for too long, a database that is dropped.
  '57': 'unavailable',
};

/**
 * Routines that report a lacking privilege (42501) because of a row: row security, and a function that raises it. All
 * other reports are about a table that the server has not been granted, which is no matter of the client's.
 */
const ROW_REFUSALS: ReadonlySet<unknown> = new Set(['ExecWithCheckOptions', 'exec_stmt_raise']);

/** Where PostgreSQL finds that a rule writes something else, and returns no row (0A000). */
const RULES = 'RewriteQuery';

/** Errors of pg and of Node that carry no SQLSTATE: the connection is gone, or never came to be. */
const CONNECTION_MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'connection manager was closed',
];
const SOCKET_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
]);

/**
 * Fault of an error from Sequelize or pg. It is null for an error of other code, and for one that cannot be read: a
 * proxy, or a getter that throws.
 */
export function describeFault(error: unknown): DatabaseFault | null {
  try {
    return readFault(error);
  } catch {
    return null;
  }
}

function readFault(error: unknown): DatabaseFault | null {
  if (error instanceof OptimisticLockError) return fault('concurrent');
  // Before the driver's own error in it, which for a full pool or a slow connect is a plain `Error` without a code.
  if (error instanceof ConnectionError) return fault(isFullPool(error.parent) ? 'full' : 'unavailable');
  const driver = driverError(error);
  if (driver) return driverFault(driver);
  if (error instanceof ValidationError) return { ...fault('invalid'), violations: violationsOf(error) };
  if (error instanceof BaseError && !(error instanceof EmptyResultError)) return fault('unexpected');
  return error instanceof Error && saysConnectionLost(error.message) ? fault('unavailable') : null;
}

const REFUSALS: ReadonlySet<FaultKind> = new Set([
  'unique',
  'foreignKey',
  'exclusion',
  'invalid',
  'refused',
  'forbidden',
]);

/** True where the database has refused values: it has written nothing, and other values may be right. */
export function isRefusal(error: unknown): boolean {
  const known = describeFault(error);
  return known !== null && REFUSALS.has(known.kind);
}

/** True where a conflict with other work has caused the fault, so that a read may succeed elsewhere or later. */
export function isBusy({ kind, isRetryable }: DatabaseFault): boolean {
  return kind === 'locked' || isRetryable;
}

/** True where a rule of the table writes something else than the statement, so that no row could come back. */
export function isRuledOut(error: unknown): boolean {
  const { code, routine } = driverError(error) ?? {};
  return code === '0A000' && routine === RULES;
}

/** True for an error of PostgreSQL with this SQLSTATE. */
export function hasState(error: unknown, state: string): boolean {
  return driverError(error)?.code === state;
}

/** The state of all statements of a transaction behind one that failed. */
export const FAILED_TRANSACTION = '25P02';

/** The state of a statement that names a table which is not there. */
export const MISSING_TABLE = '42P01';

/** The state of a statement that names a column which its table lacks. */
export const MISSING_COLUMN = '42703';

/** True where the table of a statement has no such column. The message is in any language. */
export function isMissingColumn(error: unknown, column: string): boolean {
  return hasState(error, MISSING_COLUMN) && String(driverError(error)?.message).includes(column);
}

function fault(kind: FaultKind): DatabaseFault {
  return { kind, constraint: null, table: null, column: null, isRetryable: false, violations: [] };
}

/** The message of a query that was abandoned because no answer came in time. Neither pg's error nor ours has a code. */
export const QUERY_TIMEOUT = 'Query read timeout';

/** True for a query that failed because it was abandoned. */
export function isQueryTimeout(error: { readonly message?: unknown } | null): boolean {
  return error?.message === QUERY_TIMEOUT;
}

/** The pg error inside a Sequelize error, or a bare pg error. Other errors may have a `parent` of their own. */
function driverError(error: unknown): DriverError | null {
  if (typeof error !== 'object' || error === null) return null;
  const { parent } = error as { parent?: unknown };
  if (typeof parent === 'object' && parent !== null) {
    if (error instanceof BaseError || isServerError(parent) || isConnectionLoss(parent)) return parent;
  }
  return isServerError(error) ? error : null;
}

/** True for a report of PostgreSQL, which has a severity and a SQLSTATE. */
function isServerError(error: object): boolean {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof severity === 'string' && typeof code === 'string' && SQLSTATE.test(code);
}

function driverFault(driver: DriverError): DatabaseFault {
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    kind: driverFaultKind(driver),
    constraint: text(driver.constraint),
    table: text(driver.table),
    column: text(driver.column),
    isRetryable: driver.code === '40001' || driver.code === '40P01',
    violations: [],
  };
}

function driverFaultKind(driver: DriverError): FaultKind {
  const state = typeof driver.code === 'string' ? driver.code : '';
  if (isQueryTimeout(driver)) return 'timeout';
  if (isConnectionLoss(driver)) return 'unavailable';
  if (!SQLSTATE.test(state)) return 'unexpected';
  if (state === '42501' && ROW_REFUSALS.has(driver.routine)) return 'forbidden';
  return (
    FAULT_BY_STATE[state] ??
    FAULT_BY_CLASS[state.slice(0, 2)] ??
    (isOfValue(driver) ? 'invalid' : 'unexpected')
  );
}

/** PostgreSQL's context of reading the value of a parameter, as `portal parameter $1 = '...'`, in any language. */
const OF_VALUE = /\$\d+ = .*$/;

/** Types such as `jsonpath` and `tsquery` refuse a value with the states of wrong SQL. */
export function isOfValue({ where }: Pick<DriverError, 'where'>): boolean {
  return typeof where === 'string' && OF_VALUE.test(where);
}

function isConnectionLoss({ code, message }: DriverError): boolean {
  if (typeof code === 'string' && SOCKET_CODES.has(code)) return true;
  return typeof message === 'string' && saysConnectionLost(message);
}

function saysConnectionLost(message: string): boolean {
  return CONNECTION_MESSAGES.some((known) => message.includes(known));
}

function violationsOf(error: ValidationError): Violation[] {
  return error.errors.map(({ path, validatorKey, validatorName, message, value }) => ({
    attribute: path,
    rule: validatorName ?? validatorKey ?? 'validate',
    // Sequelize's type checks and some validators quote the value; it must not reach a client.
    // A rule may throw a value that is no error, and Sequelize takes that for the message.
    message:
      typeof message !== 'string' || quotesValue(message, value)
        ? `${path ?? 'The record'} is not valid`
        : message,
  }));
}

const NAME = 'FullPoolError';

/**
 * Adds the advice to the message of an error, which is for the log, and holds no value.
 *
 * @param waited milliseconds
 * @param error that of the pool, where it has one
 */
export function fullPool(size: number, waited: number, error = new Error('Operation timeout')): Error {
  const message =
    `No connection was free for ${waited} ms: pool.max is ${size}, and pool.acquire ${waited}. Raise pool.max of engineLifespan, or look for ` +
    'what holds connections so long, such as a lock.';
  return Object.assign(error, { name: NAME, message });
}

function isFullPool(error: unknown): boolean {
  return error instanceof Error && error.name === NAME;
}
