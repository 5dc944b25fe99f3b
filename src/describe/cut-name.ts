/** Names as PostgreSQL keeps them: it cuts those that are too long, and says so in a notice only. */

/** `NAMEDATALEN` without the zero at the end. */
const MAX_BYTES = 63;

/** A name as it is in the catalogue and in errors: cut at a character, so it may be shorter. */
export function cutName(name: string, most = MAX_BYTES): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= most) return name;
  let end = most;
  // The second and later bytes of a character of UTF-8.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** The name that PostgreSQL makes of a table, columns and a kind, as `makeObjectName` does: the longer one is cut first. */
export function objectName(table: string, columns: string | null, kind: string): string {
  const [first, second] = [table, columns ?? ''].map((each) => Buffer.byteLength(cutName(each)));
  let [ofTable, ofColumns] = [first ?? 0, second ?? 0];
  const most = MAX_BYTES - Buffer.byteLength(kind) - 1 - (columns === null ? 0 : 1);
  while (ofTable + ofColumns > most) {
    if (ofTable > ofColumns) ofTable -= 1;
    else ofColumns -= 1;
  }
  const parts = [cutName(table, ofTable), ...(columns === null ? [] : [cutName(columns, ofColumns)]), kind];
  return parts.join('_');
}
