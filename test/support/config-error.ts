/** Options that an application does not start with. */
import { ConfigError } from '../../src/index.js';
import { caughtError } from './caught-error.js';

/** The message of the ConfigError that the work ends with. Every other end of it is an error here. */
export async function configError(work: () => unknown): Promise<string> {
  return (await thrownBy(work)).message;
}

/** Its problems, each without the others. */
export async function configProblems(work: () => unknown): Promise<readonly string[]> {
  return (await thrownBy(work)).problems;
}

async function thrownBy(work: () => unknown): Promise<ConfigError> {
  const error = await caughtError(work);
  if (!(error instanceof ConfigError)) throw error;
  return error;
}
