/** Judges each answer by the faults: requests may fail while a back end that they need is away, and no others may. */
import type { Answer } from './send.js';

/** A back end, which a request needs, and a fault takes away. */
export type BackEnd = 'postgres' | 'redis' | 'clickhouse';

/** Milliseconds after the end of a fault in which requests may still fail. */
export const RECOVERY = 2_000;

/** The answers of the library about a database in trouble. */
const CALM: ReadonlySet<string> = new Set([
  '503 {"detail":"The database is not available; try again."}',
  '503 {"detail":"The database is busy; try again."}',
  '503 {"detail":"Too many requests wait for the database; try again."}',
  '504 {"detail":"The database did not answer in time."}',
]);

/** A fault that was injected. Times are those of `performance.now()`. */
export interface FaultSpan {
  readonly name: string;
  readonly hits: BackEnd;
  readonly began: number;
  ended: number;
  /** Requests that failed because of it. */
  failures: number;
  /** Milliseconds from its end to the beginning of the last request that failed. */
  recovery: number;
}

/** A request that has ended. */
export interface Seen {
  /** Its kind. */
  readonly name: string;
  readonly needs: readonly BackEnd[];
  readonly statuses: readonly number[];
  /** True where the answer has no body. */
  readonly isHead: boolean;
  readonly began: number;
  /** An error where no answer came. */
  readonly answer: Answer | Error;
}

/** Counts the answers, and collects the problems. */
export class Witness {
  readonly faults: FaultSpan[] = [];
  readonly problems: string[] = [];
  /** Number of answers, by status. */
  readonly statuses = new Map<number, number>();
  requests = 0;
  /** Requests with a need that have succeeded one after the other. */
  #streak = 0;

  /** A fault is about to be injected. The return value is for its end. */
  beginFault(name: string, hits: BackEnd): FaultSpan {
    const span = { name, hits, began: performance.now(), ended: Infinity, failures: 0, recovery: 0 };
    this.faults.push(span);
    return span;
  }

  /** Ends a fault: a failure later than two seconds from now is a problem. */
  endFault(span: FaultSpan): void {
    span.ended = performance.now();
    this.#streak = 0;
  }

  /** True where so many requests in a row have succeeded since the last fault. */
  isCalm(inARow: number): boolean {
    return this.#streak >= inARow;
  }

  /** Judges a request; true where it was answered as it should be without a fault. */
  judge(seen: Seen): boolean {
    this.requests += 1;
    const { answer, statuses, needs } = seen;
    const status = answer instanceof Error ? 0 : answer.status;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (statuses.includes(status)) {
      if (needs.length > 0) this.#streak += 1;
      return true;
    }
    this.#streak = 0;
    const fault = isOutage(seen) ? this.#causeOf(seen) : undefined;
    if (fault) this.#blame(fault, seen);
    else this.problems.push(this.#tell(seen));
    return false;
  }

  /** The fault that excuses a failure: one that was there, or was over for less than the time to recover. */
  #causeOf({ needs, began }: Seen): FaultSpan | undefined {
    return this.faults.findLast(({ hits, ended }) => needs.includes(hits) && began <= ended + RECOVERY);
  }

  #blame(fault: FaultSpan, { began }: Seen): void {
    fault.failures += 1;
    fault.recovery = Math.max(fault.recovery, began - fault.ended);
  }

  #tell({ name, answer, began }: Seen): string {
    const last = this.faults.at(-1);
    const since = last ? Math.round(began - last.ended) : 0;
    const when = !last ? '' : since < 0 ? ` during '${last.name}'` : ` ${since} ms after '${last.name}'`;
    const what =
      answer instanceof Error ? `no answer (${answer.message})` : `${answer.status} ${answer.body}`;
    return `${name}${when}: ${what}`;
  }
}

/** True where an answer reports in the right words that a back end is away. */
function isOutage({ answer, needs, isHead }: Seen): boolean {
  if (answer instanceof Error) return false;
  if (needs.length !== 1 || needs[0] !== 'postgres') return answer.status === 503;
  const isTimed = answer.status === 504 || answer.headers['retry-after'] === '1';
  return isTimed && (isHead || CALM.has(`${answer.status} ${answer.body}`));
}
