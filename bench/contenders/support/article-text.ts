/** An article as JSON, put together by hand: texts of PostgreSQL that nothing parses. Sessions have the time zone UTC. */
import type { TextRow } from './lean-query.js';
import { quote } from './quote.js';

/** An article without its last brace, so that more can follow. */
export function articleText(row: TextRow): string {
  return (
    `{"id":${row[0]},"title":${quote(row[1])},"body":${quote(row[2])},"category":${quote(row[3])},` +
    `"author":${quote(row[4])},"price":${row[5]},"stock":${row[6]},"active":${row[7]?.startsWith('t')},` +
    `"createdAt":"${toIso(row[8] as string)}","updatedAt":"${toIso(row[9] as string)}"`
  );
}

/** `2026-01-31 08:00:00.12+00` is `2026-01-31T08:00:00.120Z`. */
export function toIso(text: string): string {
  const milliseconds = text.slice(20, -3).padEnd(3, '0').slice(0, 3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}
