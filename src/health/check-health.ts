/** `checkHealth`: all configured back ends at once. */
import { enginesInUse } from '../persistence/engine/engine.js';
import { throwProblems } from '../util/config-error.js';
import { HealthReport } from './health-report.js';
import { pingsOf } from './pings.js';
import { probe } from './probe.js';

/** Options of a check. */
export interface CheckOptions {
  /** Seconds that each back end has to answer. Default: 5. */
  timeout?: number;
}

/** Seconds. */
export const DEFAULT_TIMEOUT = 5;
/** Seconds. Node fires a timer of more than 2 ** 31 milliseconds at once. */
const TIMER_LIMIT = 2_000_000;

/**
 * Asks every configured back end at the same time, each on a connection of its own. One that fails or is late is
 * recorded, never thrown; without any the report is healthy.
 *
 * @example
 * ```ts
 * const report = await checkHealth({ timeout: 1 });
 * ```
 * @throws ConfigError for a timeout that is not a positive number of seconds
 */
export async function checkHealth({ timeout = DEFAULT_TIMEOUT }: CheckOptions = {}): Promise<HealthReport> {
  throwProblems(timeoutProblems(timeout));
  const pings = enginesInUse().flatMap(pingsOf);
  return new HealthReport(await Promise.all(pings.map(([name, ping]) => probe(name, ping, timeout))));
}

/** What is wrong with a timeout. */
export function timeoutProblems(timeout: unknown): string[] {
  if (typeof timeout === 'number' && timeout > 0 && timeout < TIMER_LIMIT) return [];
  return [
    `The health timeout is ${String(timeout)}; use a number of seconds above 0 and below ${TIMER_LIMIT}.`,
  ];
}
