/** URLs of back ends, which hold passwords: the problem of one, without any part of it that could be secret. */

const SCHEME = /^([a-z][a-z0-9+.-]*:)\/\//i;

/**
 * URLs that every parser reads in the same way: one `@` at most, in front of a plain host. With a raw `@`, `/`, `?`
 * or `#` a part of the password would become the host or the database, which errors name.
 */
const CERTAIN =
  /^[a-z][a-z0-9+.-]*:\/\/([^\s@/?#\\]*@)?(\[[\da-f:.]+\]|[\p{L}\p{N}._-]*)(:\d*)?([/?][^\s@#\\]*)?$/iu;

const ENCODED =
  'with its user and password percent-encoded, as encodeURIComponent does (%40 for @, %2F for /, %23 for #, %3F for ?, %25 for %)';

/**
 * Problem of a URL, as the end of a sentence; null where there is none, and then its host, user and path may be shown.
 *
 * @param example a URL that the user could write, behind "use"
 * @param isCertain true where there is one way to read it. Default: as a URL of one plain host
 */
export function urlProblem(
  text: string,
  schemes: readonly string[],
  example: string,
  isCertain: (text: string) => boolean = (each) => CERTAIN.test(each) && URL.canParse(each),
): string | null {
  const unset = unsetProblem(text, example);
  if (unset !== null) return unset;
  if (/^\s|\s$/.test(text))
    return 'begins or ends with a space or a line break, as a file with a secret often does; remove it.';
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return `is not a URL; use ${example}.`;
  if (!isCertain(text) || !canDecode(text)) return `cannot be read for certain; use ${example}, ${ENCODED}.`;
  return schemes.includes(scheme) ? null : `begins with '${scheme}'; use ${example}.`;
}

/**
 * Problem of a value that comes from a variable of the environment which is not set: undefined, empty, or a text made of
 * undefined. As the end of a sentence; null where it is set.
 */
export function unsetProblem(value: unknown, example: string): string | null {
  const isUnset =
    value === undefined || value === null || value === 'undefined' || value === 'null' || value === '';
  if (!isUnset) return null;
  return `is ${value === '' ? 'empty' : String(value)}: the environment variable that it comes from is not set; use ${example}.`;
}

/** True where each `%` begins an encoded character: parsers leave others as they are, or throw. */
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
