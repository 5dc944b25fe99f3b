/** Lines that the log of the application may have: an outage has one at first, and then one a second. */
import type { LoggedLine } from './application-process.js';
import { MARK } from './models.js';

/** Milliseconds. In each there may be two lines of a kind, as one that is late comes right before the next one. */
const WINDOW = 950;
const MOST = 2;

/** Problems of a log. */
export function logProblems(log: readonly LoggedLine[]): string[] {
  const problems: string[] = [];
  const times = new Map<string, number[]>();
  for (const { text, at } of log) {
    const kind = kindOf(text);
    if (kind === null) problems.push(`The log has: ${text}`);
    else if (text.includes(MARK)) problems.push(`The log shows a value: ${text}`);
    else times.set(kind, [...(times.get(kind) ?? []), at]);
  }
  for (const [kind, all] of times) {
    const isFlooded = all.some((at, index) => at - (all[index - MOST] ?? -Infinity) < WINDOW);
    if (isFlooded) problems.push(`The log has more than ${MOST} lines a second of ${kind}`);
  }
  return problems;
}

/** Openings of warnings about work beside requests, which is repeated: each minute, and at each reading of the catalogue. */
const LATER = [
  'Old keys of requests could not be removed',
  'The tables could not all be read again, and requests go on',
];

/** The status and the reason of a line about an outage; null for any other line. */
function kindOf(text: string): string | null {
  try {
    const { level, message, status, error, code } = JSON.parse(text);
    const later = level === 'warn' && LATER.find((opening) => String(message).startsWith(opening));
    if (later) return later;
    return level === 'error' && [503, 504].includes(status) ? JSON.stringify({ status, error, code }) : null;
  } catch {
    return null;
  }
}
