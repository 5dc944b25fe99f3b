/** Turns Ctrl-C and its relatives into one request to stop. */
import { once } from 'node:events';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const DEADLINE = 20_000;

/**
 * Aborted at the first signal. Further ones change nothing: a terminal and npm both pass Ctrl-C on, so that one is often
 * received twice.
 */
export function listenForStop(): AbortSignal {
  const controller = new AbortController();
  for (const name of SIGNALS) {
    process.on(name, () => {
      controller.abort();
      setTimeout(() => process.exit(1), DEADLINE).unref();
    });
  }
  return controller.signal;
}

/** Waits until the signal is aborted. */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
