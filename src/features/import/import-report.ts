/** Counts and errors of an import, row by row, and the answers that they make. */
import { firstIssues, MAX_ISSUES, type RequestIssue } from '../../schema/request-issue.js';

/** A row that an import refuses, or a part of it. */
export type RowIssue = RequestIssue & {
  /** From 1, without the header. */
  readonly row: number;
  /** The line of the file on which the row begins, from 1. */
  readonly line: number;
};

/** The place of a row in its file. */
export type RowPlace = Pick<RowIssue, 'row' | 'line'>;

/** Result of an import, as clients see it. */
export interface ImportSummary {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly errors: readonly RowIssue[];
  readonly errors_shown: number;
}

/** Counts the rows of an import. It holds the first errors alone, so that its size does not depend on the file. */
export class ImportReport {
  rows = 0;
  created = 0;
  updated = 0;
  failed = 0;
  #issues: RowIssue[] = [];

  /** @param before of an import that goes on */
  constructor(before?: ImportSummary) {
    if (!before) return;
    const { rows, created, updated, failed, errors } = before;
    Object.assign(this, { rows, created, updated, failed });
    this.#issues = [...errors];
  }

  refuse({ row, line }: RowPlace, issues: readonly RequestIssue[]): void {
    this.failed += 1;
    if (this.#issues.length >= MAX_ISSUES) return;
    for (const { code, detail, ...place } of issues)
      this.#issues.push({ row, line, ...place, code, detail } as RowIssue);
  }

  summary(): ImportSummary {
    const { rows, created, updated, failed } = this;
    const errors = firstIssues(this.#issues) as readonly RowIssue[];
    return { rows, created, updated, failed, errors, errors_shown: errors.length };
  }
}
