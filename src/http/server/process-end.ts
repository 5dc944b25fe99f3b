/** The end of a process that serves: signals stop all its servers, and what they share ends with the last of them. */
import { disposeEngine } from '../../persistence/engine/engine.js';
import { describeError } from '../../util/describe-error.js';
import { endsInTime } from '../../util/ends-in-time.js';
import { defaultLogger, type Logger } from '../../util/logger.js';

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
  readonly logger: Logger;
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
  const services = [...stopped.keys()];
  const areDisposed = await Promise.all(
    services.map((service) =>
      isDoneIn(Math.max(rest, DISPOSE_TIMEOUT), () => service.dispose(), service.logger),
    ),
  );
  // Also where a lifespan hangs; its own engine is not among those in use any more.
  const logger = services[0]?.logger ?? defaultLogger;
  const isEngineDisposed = await isDoneIn(ENGINE_TIMEOUT, disposeEngine, logger);
  const wasClean = ends.every((each) => each.wasClean) && areDisposed.every(Boolean) && isEngineDisposed;
  phase = 'ended';
  process.exitCode = wasClean ? 0 : 1;
  setTimeout(() => process.exit(), EXIT_GRACE).unref();
}

/** Whether something was disposed in time. Work that was cut off may hold what it waits for. */
async function isDoneIn(
  milliseconds: number,
  dispose: () => Promise<void>,
  logger: Logger,
): Promise<boolean> {
  try {
    const isDone = await endsInTime(dispose(), milliseconds);
    if (!isDone) logger.error('Disposing took too long', { milliseconds: Math.round(milliseconds) });
    return isDone;
  } catch (error) {
    logger.error('Disposing failed', describeError(error));
    return false;
  }
}
