/** A logger that keeps its lines, for tests of the log. */

import type { Logger } from '../../src/index.js';
import { flushFailures } from '../../src/respond/failure-log.js';
import { IS_POOLED } from './pooler.js';

/** One call of a logger. */
export interface LogLine {
  readonly level: keyof Logger;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Keeps every line. */
export class CapturedLog implements Logger {
  readonly lines: LogLine[] = [];

  readonly debug = this.#writer('debug');
  readonly info = this.#writer('info');
  readonly warn = this.#writer('warn');
  readonly error = this.#writer('error');

  /** Everything that was logged, as one text to be searched. */
  get text(): string {
    return JSON.stringify(this.lines);
  }

  /** Codes of failed requests, each once: repeated failures for want of a back end are only counted. */
  get codes(): readonly unknown[] {
    const failures = this.lines.filter(({ details }) => 'requestId' in details);
    return [...new Set(failures.map(({ details }) => details['code']))];
  }

  /** Forgets the lines, and which failures were logged already. */
  clear(): void {
    flushFailures();
    this.lines.length = 0;
  }

  #writer(level: keyof Logger) {
    return (message: string, details: object = {}): void => {
      // A line of each start behind a pooler.
      if (IS_POOLED && message.startsWith('A pooler ignores what')) return;
      this.lines.push({ level, message, details: details as Record<string, unknown> });
    };
  }
}
