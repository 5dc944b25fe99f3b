/** The option `changes` of `bootstrap`: its type, and its check. */
import type { OptionCompiler } from '../../operation/feature.js';
import { pathProblems, showValue, unknownOptions, withoutSlash } from '../../util/option-problems.js';

/** Member of the options of `bootstrap`. */
export interface FeedOption {
  /**
   * Times and limits of change feeds, `GET /cities/changes`, which resources have that `@Crud({ changes: true })` or the endpoint `changes`
   * names, and the path of a stream for several of them. They are those of each process. Default: as each says, and no such path.
   *
   * @example
   * ```ts
   * await bootstrap(app, { changes: { path: '/changes', maxStreams: 5_000 } });
   * ```
   */
  changes?: FeedOptions;
}

/** Options of change feeds. */
export interface FeedOptions {
  /**
   * Path, under `routePrefix`, of a stream of several resources: `GET /changes?resources=cities,reviews` with `Accept: text/event-stream`.
   * Dependencies, guards and rules of each of them hold. Default: none.
   *
   * @example '/changes'
   */
  path?: string;
  /** Milliseconds between two checks of the database, from 50 to 10,000: events come as late as that. Default: 250. */
  tick?: number;
  /** Seconds that `wait` of a request may ask for, from 0 to 300. Less than proxies wait for an answer. Default: 25. */
  maxWait?: number;
  /** Seconds after which a stream without events writes something, from 1 to 300: proxies close silent connections. Default: 15. */
  heartbeat?: number;
  /** Seconds after which a stream ends, from 5 to 86,400. Its client returns, and rights that were withdrawn hold from then on. Default: 600. */
  maxAge?: number;
  /** Streams, and requests that wait, at once; others are 503 with `Retry-After`. Default: 1000. */
  maxStreams?: number;
}

/** The option, compiled. Times are in milliseconds. */
export interface FeedSettings {
  readonly path: string | null;
  readonly tick: number;
  readonly maxWait: number;
  readonly heartbeat: number;
  readonly maxAge: number;
  readonly maxStreams: number;
}

/** Default, least, most, and milliseconds of the unit. */
const NUMBERS: Readonly<Record<keyof Omit<FeedSettings, 'path'>, readonly [number, number, number, number]>> =
  {
    tick: [250, 50, 10_000, 1],
    maxWait: [25, 0, 300, 1_000],
    heartbeat: [15, 1, 300, 1_000],
    maxAge: [600, 5, 86_400, 1_000],
    maxStreams: [1_000, 1, 1_000_000, 1],
  };

/** Compiles the option. */
export const compileFeedSettings: OptionCompiler = (value = {}, report): FeedSettings => {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject)
    report(`changes is ${showValue(value)}; use an object such as { path: '/changes' }, or leave it out.`);
  const given = (isObject ? value : {}) as Readonly<Record<string, unknown>>;
  unknownOptions('changes', given, ['path', ...Object.keys(NUMBERS)]).forEach(report);
  const { path = null } = given;
  if (path !== null) pathProblems('changes.path', path, '/changes').forEach(report);
  const numbers = Object.entries(NUMBERS).map(([name, [usual, least, most, unit]]) => {
    const number = given[name] ?? usual;
    const isRight = Number.isInteger(number) && Number(number) >= least && Number(number) <= most;
    if (!isRight) report(`changes.${name} is ${showValue(number)}; use an integer from ${least} to ${most}.`);
    return [name, (isRight ? Number(number) : usual) * unit];
  });
  return Object.freeze({
    path: path === null ? null : withoutSlash(String(path)),
    ...Object.fromEntries(numbers),
  });
};

/** Settings of an application without the option. */
export const USUAL_SETTINGS = compileFeedSettings({}, () => {}) as FeedSettings;
