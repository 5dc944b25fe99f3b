/** One probe: ask a back end, within a time, and record what happened. */
import { failureReason } from './failure-reason.js';
import { ComponentHealth, type ComponentName } from './health-report.js';

/** Asks a back end. Resolves when it answers, rejects when it fails, and with the signal's reason when aborted. */
export type Ping = (signal: AbortSignal) => Promise<void>;

/** A failure with a reason that is safe to show already. */
export class ProbeFailure extends Error {}

/**
 * Runs a probe. Never rejects.
 *
 * @param timeout seconds
 */
export async function probe(name: ComponentName, ping: Ping, timeout: number): Promise<ComponentHealth> {
  const start = performance.now();
  const controller = new AbortController();
  const late = new ProbeFailure(`timed out after ${timeout} s`);
  const timer = setTimeout(() => controller.abort(late), timeout * 1000);
  try {
    await ping(controller.signal);
    const latencyMs = Math.round((performance.now() - start) * 1000) / 1000;
    return new ComponentHealth({ name, healthy: true, latencyMs, error: null });
  } catch (error) {
    return new ComponentHealth({ name, healthy: false, latencyMs: null, error: shownReason(error) });
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

/** Ends with the work, or when aborted: what then becomes of the work does not matter to anybody, failures included. */
export function untilAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** The reason of any failure, safe to show. */
export function shownReason(error: unknown): string {
  return error instanceof ProbeFailure ? error.message : failureReason(error);
}
