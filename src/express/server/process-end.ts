/** The end of a process that serves: signals stop all its servers, and shared engines end with the last of them. */
import { closeBusyConnections, disposeEngine, enginesInUse } from '../../postgres/index.js';
import { flushFailures } from '../../respond/failure-log.js';
import { describeError } from '../../util/describe-error.js';
import { defaultLogger, type Logger } from '../../util/logger.js';
import { endsInTime } from '../../util/promises.js';

interface Stopped {
  /** True where no request had to be cut off. */
  readonly wasClean: boolean;
  /** The time of `performance.now()` until which its shutdown may take. */
  readonly deadline: number;
}

interface Service {
  /** @param cause the signal, or the message of a process manager */
  stop(cause: string): Promise<Stopped>;
  /** Disposes the result of its lifespan, when no service runs any more: others may have used it. */
  dispose(): Promise<void>;
  readonly logger: Logger;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Milliseconds that lifespans get at least to end, and that the engines get after them. */
const DISPOSE_TIMEOUT = 2_000;
const ENGINE_TIMEOUT = 1_000;
/** Milliseconds until the process is ended, should something else keep it. */
const EXIT_GRACE = 1_000;
/** Milliseconds that work gets whose request was cut off, before its connections to the database are closed. */
const CUT_GRACE = 250;

const running = new Set<Service>();
const stopped = new Map<Service, Stopped>();
let cause = '';
let phase: 'serving' | 'stopping' | 'ended' = 'serving';
let finished: Promise<void> | undefined;

/**
 * Stops the service at SIGTERM or SIGINT, together with all others.
 *
 * @returns takes the service out again, for when it has ended by other means
 */
export function endWithProcess(service: Service): () => void {
  if (running.size === 0 && phase === 'serving') {
    for (const signal of SIGNALS) process.on(signal, onSignal);
    if (isManaged()) process.on('message', onMessage);
  }
  running.add(service);
  // It was still starting when the signal came.
  if (phase !== 'serving') void end(service);
  return () => {
    if (phase !== 'serving' || !running.delete(service) || running.size > 0) return;
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
    process.removeListener('message', onMessage);
  };
}

/** Reports to pm2 that this process is ready. With `wait_ready` it then sends requests here, and stops the process before. */
export function announceReady(): void {
  if (isManaged()) process.send?.('ready');
}

/** pm2 runs this process. Other parents are sent nothing, because they have messages of their own. */
function isManaged(): boolean {
  return process.env['pm_id'] !== undefined && process.send !== undefined;
}

/** pm2 sends this where signals do not arrive, and with `shutdown_with_message`. */
function onMessage(message: unknown): void {
  if (message === 'shutdown') onSignal('the message shutdown');
}

/** Stays hooked until the process is gone, so that a signal that comes again cannot turn a clean end into a kill. */
function onSignal(name: string): void {
  if (phase === 'ended') process.exit();
  if (phase === 'stopping') process.exit(1);
  phase = 'stopping';
  cause = name;
  for (const service of running) void end(service);
}

async function end(service: Service): Promise<void> {
  stopped.set(service, await service.stop(cause));
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
  const wasCut = !ends.every(({ wasClean }) => wasClean);
  const engines = enginesInUse();
  // An engine waits for busy connections, and the time for their work is over.
  if (wasCut) setTimeout(() => engines.forEach(closeBusyConnections), CUT_GRACE).unref();
  const areDisposed = await Promise.all(
    services.map((service) =>
      isDoneIn(Math.max(rest, DISPOSE_TIMEOUT), () => service.dispose(), service.logger),
    ),
  );
  // Engines are disposed also where a lifespan hangs. Its own engine is not in use any more.
  const logger = services[0]?.logger ?? defaultLogger;
  const isEngineDisposed = await isDoneIn(ENGINE_TIMEOUT, disposeEngine, logger);
  flushFailures();
  const wasClean = !wasCut && areDisposed.every(Boolean) && isEngineDisposed;
  phase = 'ended';
  process.exitCode = wasClean ? 0 : 1;
  process.removeListener('message', onMessage);
  // Work that was cut off is not waited for.
  setTimeout(() => process.exit(), wasCut ? CUT_GRACE : EXIT_GRACE).unref();
}

/** True where a resource was disposed in time. Work that was cut off may hold a connection that it waits for. */
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
