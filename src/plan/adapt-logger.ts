/** Loggers of several libraries -> what the library writes its lines to. */
import { ConfigError } from './config-error.js';
import type { Logger } from './logger.js';
import { showValue } from './show-value.js';

const LEVELS: readonly (keyof Logger)[] = ['debug', 'info', 'warn', 'error'];

/** A logger, as far as its library can be told from it. All of these are documented. */
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
 * Writes to a logger in the order of arguments that its library knows: pino and bunyan take an object before the message,
 * winston, `console` and all others after it. A logger that fails takes nothing else with it.
 *
 * @throws ConfigError for a logger that lacks a method: its lines would be lost, and errors with them
 */
export function adaptLogger(logger: Logger): Logger {
  const missing = LEVELS.filter((level) => typeof (logger as Partial<Logger> | null)?.[level] !== 'function');
  if (missing.length > 0) {
    throw new ConfigError([
      `logger is ${showValue(logger)}, without ${missing.join(', ')}; pass pino(), console, or an object with ${LEVELS.join(', ')}.`,
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
      // There is no other place to tell of it.
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
