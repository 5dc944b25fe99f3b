/** Errors of an export or an import -> texts for a terminal. */

/** A command whose result is not whole; the message says why. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  /** @param exitCode 2 for a wrong command line, 1 for all else */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

/** A row that an import refuses, or a parameter that is refused, as answers have it. */
export interface ShownIssue {
  readonly row?: number;
  readonly line?: number;
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
  readonly code?: string;
  readonly detail?: string;
}

/** An answer that is no success: a problem, or the text of an application with errors of its own. */
export function describeAnswer(status: number | undefined, body: string, location?: string): string {
  const problem = parseObject(body);
  if (typeof problem?.['detail'] !== 'string') {
    const end = location === undefined ? '' : `, to ${location}`;
    return `The application answered ${status}${end}${body === '' ? '.' : `: ${body.slice(0, 2_000)}`}`;
  }
  const errors = Array.isArray(problem['errors']) ? (problem['errors'] as readonly ShownIssue[]) : [];
  const isOfRows = errors.some(({ row }) => row !== undefined);
  const lines = errors.map(({ detail }) => detail).filter((each) => each && each !== problem['detail']);
  return [`${status}: ${problem['detail']}`, ...(isOfRows ? [issueTable(errors)] : lines)].join('\n');
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** One line for each error of a row. */
export function issueTable(issues: readonly ShownIssue[]): string {
  const cells = issues.map((issue) => [
    String(issue.row ?? ''),
    String(issue.line ?? ''),
    issue.pointer ?? issue.parameter ?? issue.header ?? '',
    issue.code ?? '',
    issue.detail ?? '',
  ]);
  const rows = [['ROW', 'LINE', 'WHERE', 'CODE', 'DETAIL'], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).join('\n');
}

/** Lines without signs that a terminal obeys: values of a file may have them. */
export function printable(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, ' ');
}
