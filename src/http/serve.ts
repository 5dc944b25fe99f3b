/** `serve`: listens, and stops without losing a request. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Express } from 'express';
import { defaultLogger } from '../persistence/default-logger.js';
import { disposeEngine } from '../persistence/engine.js';
import { ConfigError, throwProblems } from '../plan/config-error.js';
import { closeServer } from './close-server.js';
import { createExpressServer } from './create-express-server.js';
import { startDraining } from './draining.js';

/** Options of `serve`. */
export interface ServeOptions {
  /** 0 is any free one. */
  port: number;
  /** Default: all addresses. */
  host?: string;
  /** Runs before listening, such as `engineLifespan(dsn)`; its result is disposed when the server has stopped. */
  lifespan?: (app: Express) => Promise<AsyncDisposable>;
  /**
   * Milliseconds between the signal and the end of accepting, during which readiness is 503 already and requests are
   * still served: what sends requests here needs the time to notice. Default: 5000 in Kubernetes, else 0.
   */
  drainDelay?: number;
  /** Milliseconds that requests under way get to finish, after which their connections are closed. Default: 20000. */
  shutdownTimeout?: number;
}

/** Milliseconds. Headers before the whole request; keep-alive above the idle time of usual load balancers, 60 s. */
const TIMEOUTS = Object.freeze({ headersTimeout: 15_000, requestTimeout: 30_000, keepAliveTimeout: 65_000 });
const SHUTDOWN_TIMEOUT = 20_000;
const KUBERNETES_DRAIN_DELAY = 5_000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Milliseconds that the engine gets to close its connections. */
const DISPOSE_TIMEOUT = 2_000;
/** Milliseconds. Node fires a timer of more than 2 ** 31 milliseconds at once. */
const LONGEST_WAIT = 2_000_000_000;
/** Milliseconds until the process is ended, should something else keep it. */
const EXIT_GRACE = 1_000;

/**
 * Listens, and on SIGTERM or SIGINT stops gracefully: readiness turns 503, after `drainDelay` no connection is accepted
 * any more, requests under way finish with `Connection: close`, what is left is closed at `shutdownTimeout`, and the
 * engine is disposed. The process then ends with 0, or with 1 when requests had to be cut off. A second signal ends it at
 * once, with 1. Only this function hooks the signals, and it unhooks them when the server has stopped.
 *
 * @example
 * ```ts
 * await bootstrap(app);
 * await serve(app, { port: 3000 });
 * ```
 * @throws ConfigError for an option that is not a number it can be, and when the port is taken or not allowed
 */
export async function serve(app: Express, options: ServeOptions): Promise<Server> {
  const { port, host, lifespan } = options;
  throwProblems(problemsOf(options));
  const engine = await lifespan?.(app);
  const server = Object.assign(createExpressServer(app), TIMEOUTS);
  try {
    await listen(server, port, host);
  } catch (error) {
    await engine?.[Symbol.asyncDispose]();
    throw error;
  }
  const shutdown = new Shutdown(app, server, options, async () => {
    try {
      await engine?.[Symbol.asyncDispose]();
    } finally {
      await disposeEngine();
    }
  });
  shutdown.hookSignals();
  return server;
}

function problemsOf({ port, drainDelay = 0, shutdownTimeout = 0 }: ServeOptions): string[] {
  const isPort = Number.isInteger(port) && port >= 0 && port < 65_536;
  return [
    ...(isPort ? [] : [`The port is ${inspect(port)}; use an integer from 0 to 65535.`]),
    ...Object.entries({ drainDelay, shutdownTimeout })
      .filter(([, value]) => !(typeof value === 'number' && value >= 0 && value <= LONGEST_WAIT))
      .map(
        ([name, value]) =>
          `${name} is ${inspect(value)}; use a number of milliseconds from 0 to ${LONGEST_WAIT}.`,
      ),
  ];
}

async function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const advice = listenAdvice((error as NodeJS.ErrnoException).code);
    if (advice) throw new ConfigError([`Port ${port} ${advice}.`]);
    throw error;
  }
}

function listenAdvice(code: string | undefined): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return 'is in use; stop what listens there, or choose another one';
    case 'EACCES':
      return 'is not allowed for this user; choose one above 1023';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'cannot be had, because host is no address of this machine; correct it or leave it out';
    default:
      return null;
  }
}

/** The way from a signal to the end of the process. */
class Shutdown {
  readonly #app: Express;
  readonly #server: Server;
  readonly #drainDelay: number;
  readonly #shutdownTimeout: number;
  readonly #dispose: () => Promise<void>;
  readonly #onSignal = (): void => void this.#signalled();
  #isStopping = false;

  constructor(
    app: Express,
    server: Server,
    { drainDelay, shutdownTimeout = SHUTDOWN_TIMEOUT }: ServeOptions,
    dispose: () => Promise<void>,
  ) {
    this.#app = app;
    this.#server = server;
    this.#drainDelay = drainDelay ?? (process.env['KUBERNETES_SERVICE_HOST'] ? KUBERNETES_DRAIN_DELAY : 0);
    this.#shutdownTimeout = shutdownTimeout;
    this.#dispose = dispose;
  }

  hookSignals(): void {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
    this.#server.once('close', () => this.#unhookSignals());
  }

  #unhookSignals(): void {
    if (this.#isStopping) return;
    for (const signal of SIGNALS) process.removeListener(signal, this.#onSignal);
  }

  async #signalled(): Promise<void> {
    if (this.#isStopping) process.exit(1);
    this.#isStopping = true;
    const wasClean = await this.#stop();
    this.#isStopping = false;
    this.#unhookSignals();
    process.exitCode = wasClean ? 0 : 1;
    setTimeout(() => process.exit(), EXIT_GRACE).unref();
  }

  /** True when every request finished and everything was closed. */
  async #stop(): Promise<boolean> {
    startDraining(this.#app);
    await delay(this.#drainDelay);
    const isFinished = await closeServer(this.#server, this.#shutdownTimeout);
    return (await this.#disposeInTime()) && isFinished;
  }

  /** Work that was cut off may still hold a connection, for which a pool would wait. */
  async #disposeInTime(): Promise<boolean> {
    const timer = new AbortController();
    const late = delay(DISPOSE_TIMEOUT, false, { signal: timer.signal }).catch(() => false);
    const disposed = this.#dispose().then(
      () => true,
      (error: unknown) => {
        defaultLogger.error('Disposing the engine failed', { error: inspect(error) });
        return false;
      },
    );
    const isDisposed = await Promise.race([disposed, late]);
    timer.abort();
    return isDisposed;
  }
}
