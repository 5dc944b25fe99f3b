/**
 * Lines about requests that have failed. While the database, or a column, is missing, each request fails for the same reason.
 * The first failure of a kind is logged at once, with its stack, and the others as a number, once a second.
 */
import { describeError } from '../util/describe-error.js';
import type { Logger } from '../util/logger.js';
import { perPair } from '../util/memo.js';

/** Milliseconds. */
const INTERVAL = 1_000;
/** Routes that a line names. */
const MAX_ROUTES = 5;
/** Kinds that are counted at once. Failures of other kinds are logged request by request. */
const MAX_KINDS = 500;

/** The statuses by which a dependency has failed, wherever it was called: it is unreachable, or takes too long. */
const OF_DEPENDENCIES: readonly number[] = [503, 504];

interface Failure {
  /** The method and the path of the route. */
  readonly route: string;
  readonly requestId: string;
  readonly status: number;
  readonly reason: unknown;
}

interface Described {
  readonly error?: string;
  readonly code?: string;
  readonly reason?: string;
  readonly stack?: string;
  readonly table?: string;
  readonly column?: string;
  readonly constraint?: string;
  readonly cause?: Described;
}

interface CountedKind {
  /** Requests since the last line, by route. */
  readonly routes: Map<string, number>;
  readonly timer: NodeJS.Timeout;
  /** Writes their line. */
  readonly log: () => void;
}

const counting = new Set<FailureLog>();

/** Writes to one logger. */
export class FailureLog {
  readonly #logger: Logger;
  readonly #counts = new Map<string, CountedKind>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Logs a failed request, or counts it. */
  add({ route, requestId, status, reason }: Failure): void {
    const described: Described = describeError(reason);
    const key = kindOf(status, route, described);
    const known = this.#counts.get(key);
    if (known) {
      known.routes.set(route, (known.routes.get(route) ?? 0) + 1);
      return;
    }
    this.#logger.error(`${route} failed`, { requestId, status, ...described });
    if (this.#counts.size < MAX_KINDS) this.#count(key, status, described);
  }

  /** Logs the counts at once, and begins anew. */
  flush(): void {
    for (const { timer, log } of this.#counts.values()) {
      clearInterval(timer);
      log();
    }
    this.#counts.clear();
    counting.delete(this);
  }

  #count(key: string, status: number, described: Described): void {
    const routes = new Map<string, number>();
    const { error, code } = described;
    const message = messageOf(described);
    const details = {
      status,
      error,
      ...(code === undefined ? {} : { code }),
      ...(message === '' ? {} : { reason: message }),
    };
    const log = (): void => {
      if (routes.size === 0) return;
      const count = [...routes.values()].reduce((sum, each) => sum + each);
      const requests = count === 1 ? 'request' : 'requests';
      this.#logger.error(`${namesOf(routes)}: ${count} more ${requests} failed in a second`, {
        ...details,
        count,
      });
      routes.clear();
    };
    const timer = setInterval(() => {
      if (routes.size > 0) return log();
      clearInterval(timer);
      this.#counts.delete(key);
      if (this.#counts.size === 0) counting.delete(this);
    }, INTERVAL);
    // It keeps no process alive.
    timer.unref();
    this.#counts.set(key, { routes, timer, log });
    counting.add(this);
  }
}

const FRAME = /^\s+at /;

/** The message of an error, as far as it may be logged. Without one, a stack begins with its frames. */
function messageOf({ error, reason, stack }: Described): string {
  const [first = ''] = stack?.split('\n') ?? [];
  return reason ?? (FRAME.test(first) ? '' : first.slice(`${error}: `.length));
}

/** An outage is the same on all routes. A mistake is identified by its route, its place and its message without numbers. */
function kindOf(status: number, route: string, described: Described): string {
  const { error, code, stack, table, column, constraint, cause } = described;
  if (OF_DEPENDENCIES.includes(status)) return JSON.stringify([status, error, code]);
  const place = stack?.split('\n').find((line) => FRAME.test(line));
  const message = messageOf(described).replace(/\d+/g, '#');
  const inner = cause && kindOf(status, route, cause);
  return JSON.stringify([status, route, error, code, message, table, column, constraint, place, inner]);
}

/** Routes with their numbers, the highest first, and how many more there are. */
export function namesOf(routes: ReadonlyMap<string, number>): string {
  const sorted = [...routes].sort(([, one], [, other]) => other - one);
  const names = sorted.slice(0, MAX_ROUTES).map(([route, count]) => `${route} (${count})`);
  const rest = sorted.length - names.length;
  return names.join(', ') + (rest > 0 ? ` and ${rest} more ${rest === 1 ? 'route' : 'routes'}` : '');
}

/** The log of a logger. */
export const failureLog = perPair((logger: Logger) => new FailureLog(logger));

/** Logs at once the counts of all loggers: the process ends. */
export function flushFailures(): void {
  for (const each of counting) each.flush();
}
