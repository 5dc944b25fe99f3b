/** The option `idempotency` of `bootstrap`: its type, and its check. */
import type { Request } from 'express';
import type { OptionCompiler } from '../../operation/feature.js';
import { flagProblems, showValue, unknownOptions } from '../../util/option-problems.js';

/** Member of the options of `bootstrap`. */
export interface IdempotencyOption {
  /**
   * Lets generated writes take an `Idempotency-Key`, so that a client may repeat a write whose answer was lost. The key is written in
   * the transaction of the write, into the table `crud_idempotency` beside the tables of the models: made by `createAll`, and
   * printed by `npx crud-controllers sql`. Only answers of success are kept. A second request with the key gets the same status,
   * body, `Location` and `ETag`, with `Idempotent-Replayed: true`, after `dependencies`, `can` and the principal. 422: the key was used
   * for another request. 409 with `Retry-After`: the first one is under way. Without the option a write with the header is 400, and so
   * is one whose body a method reads by itself, or stores on a disk.
   * Default: none.
   *
   * @example
   * ```ts
   * await bootstrap(app, { idempotency: { principal: ({ user }) => user && String(user.id), retention: 48 } });
   * ```
   */
  idempotency?: IdempotencyOptions;
}

/** Sender of a request; null, undefined and an empty text are 403. */
export type PrincipalRule = (
  request: Request,
) => string | null | undefined | Promise<string | null | undefined>;

/** Options of requests with an `Idempotency-Key`. */
export interface IdempotencyOptions {
  /**
   * Sender of the request, such as the id of a user: two principals never share a key. It is computed for requests with
   * a key, after `dependencies` and `can`. `null`, `undefined` and an empty text are 403. It must not be a value that every client
   * can send. A replay calls no override and no hook: rules for users belong into `can` and `dependencies`, which it
   * passes again. An answer is repeated within the same `scope`, `visible` and `rls` settings alone: with others a
   * repetition is 409 or 422. So these need the same values for the same request, and not its time or number.
   * Applications on one table share the keys: where the same id is of different users in them, the text has to differ.
   *
   * @example
   * ```ts
   * principal: (request) => request.user && String(request.user.id)
   * ```
   */
  principal: PrincipalRule;
  /**
   * True: a write without a key is answered with 400. Default: false.
   *
   * @example true
   */
  required?: boolean;
  /**
   * Hours for which an answer is kept, from 1 minute to 30 days. An older key counts as new, and is removed later.
   * Applications on one table need the same. Default: 24.
   *
   * @example 48
   */
  retention?: number;
}

/** Settings of the keys of requests. */
export interface KeySettings {
  readonly principal: PrincipalRule;
  readonly isRequired: boolean;
  /** Hours. */
  readonly retention: number;
}

const RETENTION = Object.freeze({ default: 24, min: 1 / 60, max: 30 * 24 });

/** Compiles the option. A variable that was never set must not switch it off. */
export const compileKeySettings: OptionCompiler = (options, report): KeySettings | null => {
  if (typeof options !== 'object' || options === null) {
    report(`idempotency is ${showValue(options)}; use { principal: (request) => … }, or leave it out.`);
    return null;
  }
  const { principal, required = false, retention = RETENTION.default } = options as IdempotencyOptions;
  const isInRange = typeof retention === 'number' && retention >= RETENTION.min && retention <= RETENTION.max;
  unknownOptions('idempotency', options, ['principal', 'required', 'retention']).forEach(report);
  if (typeof principal !== 'function') {
    report(
      `idempotency.principal is ${showValue(principal)}; use a function of the request that gives a text of who asks.`,
    );
  }
  flagProblems('idempotency.required', required).forEach(report);
  if (!isInRange) {
    report(
      `idempotency.retention is ${showValue(retention)}; use a number of hours from 1/60 to ${RETENTION.max}.`,
    );
  }
  return Object.freeze({ principal, isRequired: required, retention });
};
