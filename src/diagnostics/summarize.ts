/** Summarizes a statement, without any of its values. */

const TABLE = /\b(?:FROM|INTO|UPDATE) (?:ONLY )?(?:"[^"]+"\.)?"([^"]+)"/;
/** As long as names of PostgreSQL. */
const MAX_NAME = 63;

/** `SELECT cities`: what the conventions of OpenTelemetry call a summary. */
export function summarize(text: string): string {
  const [operation = ''] = text.trimStart().split(/[ ;]/, 1);
  const table = TABLE.exec(text)?.[1];
  return (table ? `${operation} ${table}` : operation).slice(0, MAX_NAME);
}
