/** The option `idempotency` of `bootstrap`, checked. */
import type { IdempotencyOptions, PrincipalRule } from '../../declare/idempotency-options.js';
import { flagProblems, showValue, unknownOptions } from '../../util/option-problems.js';

/** Settings of the keys of requests. */
export interface KeySettings {
  readonly principal: PrincipalRule;
  readonly isRequired: boolean;
  /** Hours. */
  readonly retention: number;
}

const RETENTION = Object.freeze({ default: 24, min: 1 / 60, max: 30 * 24 });

/** The settings; null where the option is left out. */
export function keySettings(options: IdempotencyOptions | undefined): KeySettings | null {
  if (!options) return null;
  const { principal, required = false, retention = RETENTION.default } = options;
  return Object.freeze({ principal, isRequired: required, retention });
}

/** Problems of the option. A variable that was never set must not switch it off. */
export function keyProblems(options: unknown): string[] {
  if (typeof options !== 'object' || options === null)
    return [`idempotency is ${showValue(options)}; use { principal: (request) => … }, or leave it out.`];
  const { principal, required = false, retention = RETENTION.default } = options as Record<string, unknown>;
  const isInRange = typeof retention === 'number' && retention >= RETENTION.min && retention <= RETENTION.max;
  return [
    ...unknownOptions('idempotency', options, ['principal', 'required', 'retention']),
    ...(typeof principal === 'function'
      ? []
      : [
          `idempotency.principal is ${showValue(principal)}; use a function of the request that gives a text of who asks.`,
        ]),
    ...flagProblems('idempotency.required', required),
    ...(isInRange
      ? []
      : [
          `idempotency.retention is ${showValue(retention)}; use a number of hours from 1/60 to ${RETENTION.max}.`,
        ]),
  ];
}
