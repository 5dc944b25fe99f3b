/** Which paths Express takes for the same. */

/** The path in small letters, without the names of its parameters and the slash at its end. */
export function pathShape(path: string): string {
  return withoutSlash(path.toLowerCase().replace(/:\w+/g, ':'));
}

/** The path without the slash at its end; the root stays. */
export function withoutSlash(path: string): string {
  return path.replace(/(.)\/$/, '$1');
}
