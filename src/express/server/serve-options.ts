/** The options of `serve`, and what can be wrong with them. */
import { inspect } from 'node:util';
import type { Express } from 'express';
import { unknownOptions } from '../../util/option-problems.js';

/** Options of `serve`. */
export interface ServeOptions {
  /** 0 is any free one. */
  port: number;
  /** Default: all addresses. */
  host?: string;
  /**
   * Runs before listening, such as `engineLifespan(dsn)`. Its result is disposed when a signal has stopped this and every
   * other server of the process; whoever closes the server instead calls `disposeEngine`.
   */
  lifespan?: (app: Express) => Promise<AsyncDisposable>;
  /**
   * Milliseconds between the signal and the end of accepting, during which readiness is 503 already and requests are
   * still served: what sends requests here needs the time to notice. Default: 5000 in Kubernetes, else 0.
   */
  drainDelay?: number;
  /**
   * Milliseconds that requests under way get to finish, after which their connections are closed; what they leave is the
   * time to dispose the lifespan's result, which is never less than 2000. Default: 20000.
   */
  shutdownTimeout?: number;
}

const NAMES = ['port', 'host', 'lifespan', 'drainDelay', 'shutdownTimeout'] satisfies (keyof ServeOptions)[];
const SHUTDOWN_TIMEOUT = 20_000;
const KUBERNETES_DRAIN_DELAY = 5_000;
/** Milliseconds. Node fires a timer of more than 2 ** 31 milliseconds at once. */
const LONGEST_WAIT = 2_000_000_000;

/** The times of a shutdown, with the defaults of those that are not given. */
export function shutdownTimes({
  drainDelay = process.env['KUBERNETES_SERVICE_HOST'] ? KUBERNETES_DRAIN_DELAY : 0,
  shutdownTimeout = SHUTDOWN_TIMEOUT,
}: Pick<ServeOptions, 'drainDelay' | 'shutdownTimeout'>) {
  return { drainDelay, shutdownTimeout };
}

/** Everything that is wrong with the options. */
export function serveProblems(options: ServeOptions): string[] {
  const { port, host, lifespan } = options;
  const isPort = Number.isInteger(port) && port >= 0 && port < 65_536;
  return [
    ...runtimeProblems(process.versions),
    ...unknownOptions('serve', options, NAMES),
    ...(isPort ? [] : [`The port is ${inspect(port)}; use an integer from 0 to 65535.`]),
    ...(host === undefined || typeof host === 'string'
      ? []
      : [
          `host is ${inspect(host, { depth: 0 })}; use a name or an address of this machine, or leave it out.`,
        ]),
    ...(lifespan === undefined || typeof lifespan === 'function'
      ? []
      : [`lifespan is ${inspect(lifespan, { depth: -1 })}; use a function such as engineLifespan(dsn).`]),
    ...Object.entries(shutdownTimes(options))
      .filter(([, value]) => !(typeof value === 'number' && value >= 0 && value <= LONGEST_WAIT))
      .map(
        ([name, value]) =>
          `${name} is ${inspect(value)}; use a number of milliseconds from 0 to ${LONGEST_WAIT}.`,
      ),
  ];
}

/** Connections end in order by what Node does with them, and another runtime does not. */
function runtimeProblems({ bun }: NodeJS.ProcessVersions): string[] {
  if (bun === undefined) return [];
  return [
    `serve needs the HTTP server of Node, and this is Bun ${bun}; start the application with node, or use app.listen(port), which ` +
      'cuts off requests when the process is stopped.',
  ];
}
