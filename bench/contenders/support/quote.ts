/** Texts as JSON, for those who put it together by hand. */

/** Quotes, backslashes and everything below the space. */
const NEEDS_ESCAPE = /["\\]|[^ -\uffff]/;

/** Most texts only need quotes around them, and to see that is faster than `JSON.stringify`. */
export function quote(text: string | null | undefined): string {
  if (text === null || text === undefined) return 'null';
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}
