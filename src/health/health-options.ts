/** The options of the health routes, checked, with every default filled in. */

import { flagProblems, unknownOptions } from '../plan/unknown-options.js';
import { throwProblems } from '../util/config-error.js';
import { type CheckOptions, DEFAULT_TIMEOUT, timeoutProblems } from './check-health.js';

/** Options of `healthRouter`, and of `health` in `bootstrap`. */
export interface HealthOptions extends CheckOptions {
  /** Default: `/health`. */
  prefix?: string;
  /** Whether there is a `live` route. Default: true. */
  includeLiveness?: boolean;
}

const DEFAULTS = Object.freeze({ prefix: '/health', timeout: DEFAULT_TIMEOUT, includeLiveness: true });
const PREFIX = /^(?:\/[A-Za-z0-9\-._~]+)*$/;

/** The options with the defaults of those that are not given, undefined ones too. @throws ConfigError */
export function resolveHealthOptions(options: HealthOptions): Required<HealthOptions> {
  throwProblems(healthProblems(options));
  const { prefix = DEFAULTS.prefix, timeout = DEFAULTS.timeout, includeLiveness = true } = options;
  return { prefix: withoutSlash(prefix), timeout, includeLiveness };
}

/** Everything that is wrong with the options. */
export function healthProblems(options: HealthOptions): readonly string[] {
  const { prefix = DEFAULTS.prefix, timeout = DEFAULTS.timeout, includeLiveness = true } = options;
  return [
    ...unknownOptions('health', options, Object.keys(DEFAULTS)),
    ...(typeof prefix === 'string' && PREFIX.test(withoutSlash(prefix))
      ? []
      : [`The health prefix ${JSON.stringify(prefix)} is not a plain path; use one such as '/health'.`]),
    ...timeoutProblems(timeout),
    ...flagProblems('The health option includeLiveness', includeLiveness),
  ];
}

function withoutSlash(prefix: string): string {
  return prefix.replace(/\/$/, '');
}
