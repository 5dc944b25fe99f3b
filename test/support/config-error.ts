/** Options that an application does not start with. */
import { ConfigError } from '../../src/index.js';
import { caughtError } from './caught-error.js';

/** The message of the ConfigError that the work ends with. Every other end of it is an error here. */
export async function configError(work: () => unknown): Promise<string> {
  const error = await caughtError(work);
  if (!(error instanceof ConfigError)) throw error;
  return error.message;
}
