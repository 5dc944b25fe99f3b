/** The options of the health routes, checked, with every default filled in. */
import { throwProblems } from '../util/config-error.js';
import {
  flagProblems,
  objectProblems,
  pathProblems,
  unknownOptions,
  withoutSlash,
} from '../util/option-problems.js';
import { type CheckOptions, DEFAULT_TIMEOUT, timeoutProblems } from './check-health.js';

/** Options of `healthRouter`, and of `health` in `bootstrap`. */
export interface HealthOptions extends CheckOptions {
  /** Default: `/health`. */
  prefix?: string;
  /** True: there is a `live` route. Default: true. */
  includeLiveness?: boolean;
}

const DEFAULTS = Object.freeze({ prefix: '/health', timeout: DEFAULT_TIMEOUT, includeLiveness: true });

/** The options with defaults, also in the place of undefined ones. @throws ConfigError */
export function resolveHealthOptions(options: HealthOptions): Required<HealthOptions> {
  throwProblems(healthProblems(options));
  const { prefix = DEFAULTS.prefix, timeout = DEFAULTS.timeout, includeLiveness = true } = options;
  return { prefix: withoutSlash(prefix), timeout, includeLiveness };
}

/** Everything that is wrong with the options. */
export function healthProblems(options: HealthOptions): readonly string[] {
  const wrong = objectProblems('health', options, "an object such as { prefix: '/healthz' }, or false");
  if (wrong.length > 0) return wrong;
  const { prefix = DEFAULTS.prefix, timeout = DEFAULTS.timeout, includeLiveness = true } = options;
  return [
    ...unknownOptions('health', options, Object.keys(DEFAULTS)),
    ...pathProblems('The health prefix', prefix, '/health'),
    ...timeoutProblems(timeout),
    ...flagProblems('The health option includeLiveness', includeLiveness),
  ];
}
