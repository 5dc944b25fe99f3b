/** The one part of a URL that is safe to show where it is wrong. */

const SCHEME = /^([a-z][a-z0-9+.-]*:)\/\//i;

/** Such as `redis:`; null where the text is no URL, or is one only by chance: `user:password@host` would show the user. */
export function schemeOf(text: string): string | null {
  return (URL.canParse(text) && SCHEME.exec(text)?.[1]?.toLowerCase()) || null;
}
