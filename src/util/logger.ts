/** Where the library's few log lines go. */

/**
 * What pino, winston, bunyan and `console` have in common. Each works as it is: to pino and bunyan, which are known by their
 * documented methods, details are passed before the message, as they take them, and to all others after it. One that
 * lacks one of the methods is a `ConfigError`: winston's with the levels of syslog, say, which has `warning` only.
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
