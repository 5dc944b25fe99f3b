/** The `cursorSecret` option. */
import { ConfigError } from '../../util/config-error.js';

/** RFC 2104 asks for keys no shorter than the hash; fewer than 16 characters can be guessed. */
const MIN_LENGTH = 16;

/**
 * One secret or several -> a list, the signing one first.
 *
 * @throws ConfigError for one that is too short; the message does not hold it
 */
export function parseSecrets(secret: string | readonly string[] | undefined): readonly string[] {
  const secrets = secret === undefined ? [] : [secret].flat();
  const isWrong = (each: unknown): boolean => typeof each !== 'string' || each.length < MIN_LENGTH;
  if (secret !== undefined && (secrets.length === 0 || secrets.some(isWrong))) {
    throw new ConfigError([
      `cursorSecret is empty, or shorter than ${MIN_LENGTH} characters; use a random text, such as 32 bytes in base64.`,
    ]);
  }
  return Object.freeze(secrets);
}
