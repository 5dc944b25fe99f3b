/** What `bootstrap` takes of idempotency. */
import type { Request } from 'express';

/** Who has sent a request; null, undefined and an empty text are 403. */
export type PrincipalRule = (
  request: Request,
) => string | null | undefined | Promise<string | null | undefined>;

/** How requests with an `Idempotency-Key` are told apart and kept. */
export interface IdempotencyOptions {
  /**
   * Who has sent the request, such as the id of a user: two principals never share a key. It is asked for requests with a key,
   * after `dependencies` and `can`. `null`, `undefined` and an empty text are 403. It must not be what everybody can send.
   * A replay calls no override and no hook: rules for users belong into `can` and `dependencies`, which it passes again.
   * An answer is repeated within the same `scope`, `visible` and `rls` settings alone: with others a repetition is 409 or 422.
   * So these need the same values for the same request, and not its time or number. Applications on one table share the keys: where
   * they know different users by the same id, the text has to tell them apart.
   *
   * @example
   * ```ts
   * principal: (request) => request.user && String(request.user.id)
   * ```
   */
  principal: PrincipalRule;
  /**
   * Whether a write without a key is answered with 400. Default: false.
   *
   * @example true
   */
  required?: boolean;
  /**
   * How long an answer is kept, in hours, from 1 minute to 30 days. An older key counts as new, and is removed later. Applications on
   * one table need the same. Default: 24.
   *
   * @example 48
   */
  retention?: number;
}
