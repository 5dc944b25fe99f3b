/** The text of a file of JSON lines -> its values. A line that is no JSON is a mistake of that line alone. */

import { refuseDepth } from '../../request/read-body.js';
import { BodyError, type RequestIssue } from '../../schema/request-issue.js';
import { longRow } from './csv-rows.js';

/** A row of a file, by its line. */
export interface FileLine {
  /** From 1. */
  readonly line: number;
  /** Characters of the row in the file. */
  readonly text: string;
  readonly body: unknown;
  /** Problems that are found before any schema is evaluated. */
  readonly issues: readonly RequestIssue[];
}

/** Reads the lines of a file, as many at a time as a piece of it has. Empty ones are skipped. @throws BodyError 413 for one that is too long */
export async function* readJsonLines(
  texts: AsyncIterable<string>,
  maxRow: number,
): AsyncGenerator<readonly FileLine[]> {
  let rest = '';
  let line = 1;
  for await (const text of texts) {
    const lines = text.split('\n');
    lines[0] = rest + lines[0];
    rest = lines.pop() as string;
    const rows = lines.flatMap((each, index) => parsed(each, line + index, maxRow) ?? []);
    line += lines.length;
    if (rest.length > maxRow) throw longRow(line, maxRow);
    if (rows.length > 0) yield rows;
  }
  const last = parsed(rest, line, maxRow);
  if (last) yield [last];
}

function parsed(text: string, line: number, maxRow: number): FileLine | null {
  if (text.trim() === '') return null;
  if (text.length > maxRow) throw longRow(line, maxRow);
  try {
    const body: unknown = JSON.parse(text);
    refuseDepth(body);
    return { line, text, body, issues: [] };
  } catch (error) {
    // V8's own message quotes the body.
    const problem =
      error instanceof BodyError ? error : new BodyError(400, 'malformed', 'The line is not valid JSON.');
    return { line, text, body: undefined, issues: problem.errors };
  }
}
