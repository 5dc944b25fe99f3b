/** Options of `bootstrap` for idempotency. */
import type { Request } from 'express';

/** Sender of a request; null, undefined and an empty text are 403. */
export type PrincipalRule = (
  request: Request,
) => string | null | undefined | Promise<string | null | undefined>;

/** Options of requests with an `Idempotency-Key`. */
export interface IdempotencyOptions {
  /**
   * Sender of the request, such as the id of a user: two principals never share a key. It is computed for requests with
   * a key, after `dependencies` and `can`. `null`, `undefined` and an empty text are 403. It must not be what everybody
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
