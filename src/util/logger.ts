/** Where the library's few log lines go. */
import { ConfigError } from './config-error.js';
import { showValue } from './option-problems.js';

/**
 * Methods that pino, winston, bunyan and `console` share. Each of these loggers works as it is. pino and bunyan are recognized
 * by their documented methods, and get details before the message; all others get them after it.
 * A logger that lacks a method is a `ConfigError`, such as winston's with the levels of syslog, which has `warning`
 * only.
 *
 * @example
 * ```ts
 * await bootstrap(app, { logger: pino() });
 * ```
 */
export interface Logger {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Members of loggers by which their library is recognized. All of these are documented. */
interface KnownLogger {
  /** pino: the values of a child, by a method, and the names of its levels. */
  readonly bindings?: unknown;
  readonly levels?: { readonly values?: unknown };
  /** bunyan: the fields of every record, and where records go. */
  readonly fields?: unknown;
  readonly streams?: unknown;
  readonly addSerializers?: unknown;
}

/**
 * Writes to a logger in the order of arguments of its library: pino and bunyan take an object before the message,
 * winston, `console` and all others after it. An error of the logger is caught.
 *
 * @throws ConfigError for a logger without a method: its lines would be lost
 */
export function adaptLogger(logger: Logger): Logger {
  // A class with static methods is one, too.
  const isObject = Object(logger) === logger;
  const missing = LEVELS.filter((level) => !isObject || typeof logger[level] !== 'function');
  if (missing.length > 0) {
    const found = isObject ? `has no method ${missing.join(', ')}` : `is ${showValue(logger)}`;
    throw new ConfigError([
      `logger ${found}; use that of pino, winston or bunyan, console, or an object with debug, info, warn and error.`,
    ]);
  }
  const isObjectFirst = takesObjectFirst(logger as KnownLogger);
  const writer = (level: keyof Logger) => (message: string, details?: object) => {
    const values =
      details === undefined ? [message] : isObjectFirst ? [details, message] : [message, details];
    try {
      const written: unknown = Reflect.apply(logger[level], logger, values);
      if (written instanceof Promise) written.catch(() => {});
    } catch {
      // There is no other place to report it.
    }
  };
  return Object.freeze({
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  });
}

function takesObjectFirst({ bindings, levels, fields, streams, addSerializers }: KnownLogger): boolean {
  const isPino = typeof bindings === 'function' && typeof levels?.values === 'object';
  const isBunyan = typeof addSerializers === 'function' && Array.isArray(streams) && fields instanceof Object;
  return isPino || isBunyan;
}

/** Writes warnings and errors to standard error as JSON lines with their time, and nothing else. */
export const defaultLogger: Logger = adaptLogger({
  debug: () => {},
  info: () => {},
  warn: (message: string, details?: object) => write('warn', message, details),
  error: (message: string, details?: object) => write('error', message, details),
});

/** Logs a message without a problem. The default logger has no lines of this kind, so they go to standard output. */
export function logInfo(logger: Logger, message: string, details: object = {}): void {
  if (logger !== defaultLogger) logger.info(message, details);
  else process.stdout.write(lineOf('info', message, details));
}

function write(level: string, message: string, details: object = {}): void {
  process.stderr.write(lineOf(level, message, details));
}

/** A line with the time in UTC (RFC 3339), by which lines of several processes can be sorted. */
function lineOf(level: string, message: string, details: object): string {
  return `${JSON.stringify({ level, time: new Date().toISOString(), message, ...details })}\n`;
}
