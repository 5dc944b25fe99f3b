/**
 * Errors of work that a request began and nobody awaited. Such a promise is the user's, so nothing here can handle it, and Node ends a
 * process for it: one request would end all others. They are told to the log instead.
 */
import { describeError } from './describe-error.js';
import { defaultLogger, type Logger } from './logger.js';

const expected = new WeakMap<object, Logger>();
let isListening = false;

/** The same error, for which the process goes on where no code has handled it. */
export function survivable<E extends object>(error: E, logger: Logger = defaultLogger): E {
  expected.set(error, logger);
  if (!isListening) process.on('unhandledRejection', judge);
  isListening = true;
  return error;
}

function judge(reason: unknown): void {
  const logger = typeof reason === 'object' && reason !== null ? expected.get(reason) : undefined;
  if (logger) logger.error('A promise that nothing awaited was rejected', describeError(reason));
  // Node ends the process where there is no listener. Another listener decides by itself.
  else if (process.listenerCount('unhandledRejection') === 1) throw reason;
}
