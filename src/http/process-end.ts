/** The end of a process that serves: signals stop all its servers, and what they share ends with the last of them. */
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { defaultLogger } from '../persistence/default-logger.js';
import { disposeEngine } from '../persistence/engine.js';

/** How a server has stopped. */
export interface Stopped {
  /** Whether no request had to be cut off. */
  readonly wasClean: boolean;
  /** The time of `performance.now()` until which its shutdown may take. */
  readonly deadline: number;
}

/** A server that ends with the process. */
export interface Service {
  stop(): Promise<Stopped>;
  /** Disposes what it had to itself, when no other service runs any more either: they may have used it. */
  dispose(): Promise<void>;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Milliseconds that lifespans get at least to end, and that the engines get after them. */
const DISPOSE_TIMEOUT = 2_000;
const ENGINE_TIMEOUT = 1_000;
/** Milliseconds until the process is ended, should something else keep it. */
const EXIT_GRACE = 1_000;

const running = new Set<Service>();
const stopped = new Map<Service, Stopped>();
let phase: 'serving' | 'stopping' | 'ended' = 'serving';
let finished: Promise<void> | undefined;

/**
 * Stops the service at SIGTERM or SIGINT, together with all others.
 *
 * @returns takes the service out again, for when it has ended by other means
 */
export function endWithProcess(service: Service): () => void {
  if (running.size === 0 && phase === 'serving') for (const signal of SIGNALS) process.on(signal, onSignal);
  running.add(service);
  // It was still starting when the signal came.
  if (phase !== 'serving') void end(service);
  return () => {
    if (phase !== 'serving' || !running.delete(service) || running.size > 0) return;
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  };
}

/** Stays hooked until the process is gone, so that a signal that comes again cannot turn a clean end into a kill. */
function onSignal(): void {
  if (phase === 'ended') process.exit();
  if (phase === 'stopping') process.exit(1);
  phase = 'stopping';
  for (const service of running) void end(service);
}

async function end(service: Service): Promise<void> {
  stopped.set(service, await service.stop());
  running.delete(service);
  if (running.size > 0) return;
  finished ??= finish();
  await finished;
}

/** When the last service has stopped; happens once. */
async function finish(): Promise<void> {
  const ends = [...stopped.values()];
  const rest = Math.max(...ends.map(({ deadline }) => deadline)) - performance.now();
  const lifespans = [...stopped.keys()].map((service) => () => service.dispose());
  const areDisposed = await disposeWithin(Math.max(rest, DISPOSE_TIMEOUT), lifespans);
  // Also where a lifespan hangs; its own engine is not among those in use any more.
  const isEngineDisposed = await disposeWithin(ENGINE_TIMEOUT, [disposeEngine]);
  const wasClean = ends.every((each) => each.wasClean) && areDisposed && isEngineDisposed;
  phase = 'ended';
  process.exitCode = wasClean ? 0 : 1;
  setTimeout(() => process.exit(), EXIT_GRACE).unref();
}

/** Disposes all at once; whether all succeeded in time. Work that was cut off may hold what they wait for. */
async function disposeWithin(
  milliseconds: number,
  disposals: readonly (() => Promise<void>)[],
): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(milliseconds, null, { signal: timer.signal }).catch(() => null);
  const all = Promise.allSettled(disposals.map((dispose) => dispose()));
  const ends = await Promise.race([all, late]);
  timer.abort();
  if (ends === null)
    defaultLogger.error('Disposing took too long', { milliseconds: Math.round(milliseconds) });
  for (const each of ends ?? []) {
    if (each.status === 'rejected') {
      defaultLogger.error('Disposing failed', { error: inspect(each.reason) });
    }
  }
  return ends?.every(({ status }) => status === 'fulfilled') ?? false;
}
