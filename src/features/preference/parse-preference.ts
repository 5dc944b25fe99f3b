/** The header `Prefer` -> the answer that a client would like (RFC 7240, 2 and 4.2). */

/** An answer of a write: without the record, or with it. */
export type Return = 'minimal' | 'representation';

/** A preference with its value, which may be quoted, and parameters, which none of ours has. */
const PREFERENCE =
  /[\s,]*([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*(?:([\w!#$%&'*+.^`|~-]+)|"((?:[^"\\]|\\.)*)")\s*)?(?:;(?:[^",]|"(?:[^"\\]|\\.)*")*)?(?=,|$)/y;

/** The value of `return`, in any case; undefined where it is none of `Return`. Of several the first counts. */
export function wantedReturn(header: string): Return | undefined {
  PREFERENCE.lastIndex = 0;
  while (PREFERENCE.lastIndex < header.length) {
    const [, name = '', token, quoted = ''] = PREFERENCE.exec(header) ?? [];
    if (name.toLowerCase() !== 'return') {
      if (name === '') return undefined;
      continue;
    }
    const value = (token ?? quoted).toLowerCase();
    return value === 'minimal' || value === 'representation' ? value : undefined;
  }
  return undefined;
}
