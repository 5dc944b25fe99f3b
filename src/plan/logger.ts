/** Where the library's few log lines go. */

/** What pino, winston, bunyan and `console` have in common. */
export interface Logger {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}
