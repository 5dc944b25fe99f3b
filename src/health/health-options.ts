/** The options of the health routes, checked, with every default filled in. */

import { unknownOptions } from '../plan/unknown-options.js';
import { ConfigError } from '../util/config-error.js';
import { showValue } from '../util/show-value.js';
import { type CheckOptions, DEFAULT_TIMEOUT, timeoutProblem } from './check-health.js';

/** Options of `healthRouter`, and of `health` in `bootstrap`. */
export interface HealthOptions extends CheckOptions {
  /** Default: `/health`. */
  prefix?: string;
  /** Whether there is a `live` route. Default: true. */
  includeLiveness?: boolean;
}

const DEFAULTS = Object.freeze({ prefix: '/health', timeout: DEFAULT_TIMEOUT, includeLiveness: true });
const PREFIX = /^(?:\/[A-Za-z0-9\-._~]+)*$/;

/** The options with the defaults of those that are not given. @throws ConfigError */
export function resolveHealthOptions(options: HealthOptions): Required<HealthOptions> {
  const problems = healthProblems(options);
  if (problems.length > 0) throw new ConfigError(problems);
  const { prefix, timeout, includeLiveness } = withDefaults(options);
  return { prefix: withoutSlash(prefix), timeout, includeLiveness };
}

/** Everything that is wrong with the options. */
export function healthProblems(options: HealthOptions): readonly string[] {
  const { prefix, timeout, includeLiveness } = withDefaults(options);
  const late = timeoutProblem(timeout);
  return [
    ...unknownOptions('health', options, Object.keys(DEFAULTS)),
    ...(typeof prefix === 'string' && PREFIX.test(withoutSlash(prefix))
      ? []
      : [`The health prefix ${JSON.stringify(prefix)} is not a plain path; use one such as '/health'.`]),
    ...(late === null ? [] : [late]),
    ...(typeof includeLiveness === 'boolean'
      ? []
      : [`The health option includeLiveness is ${showValue(includeLiveness)}; use true or false.`]),
  ];
}

/** An option that is undefined is one that is not given. */
function withDefaults({
  prefix = DEFAULTS.prefix,
  timeout = DEFAULTS.timeout,
  includeLiveness = DEFAULTS.includeLiveness,
}: HealthOptions): Required<HealthOptions> {
  return { prefix, timeout, includeLiveness };
}

function withoutSlash(prefix: string): string {
  return prefix.replace(/\/$/, '');
}
