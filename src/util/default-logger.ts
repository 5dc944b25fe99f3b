/** The logger of those who gave none. */
import { adaptLogger } from './adapt-logger.js';
import type { Logger } from './logger.js';

/** Writes warnings and errors to standard error as JSON lines, and nothing else. */
export const defaultLogger: Logger = adaptLogger({
  debug: () => {},
  info: () => {},
  warn: (message: string, details?: object) => write('warn', message, details),
  error: (message: string, details?: object) => write('error', message, details),
});

function write(level: string, message: string, details: object = {}): void {
  process.stderr.write(`${JSON.stringify({ level, message, ...details })}\n`);
}
