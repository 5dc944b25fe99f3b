/** Members of a body that are no attributes of its record, as children are that are written with it. */
import type { Request } from 'express';
import type { JsonSchema } from '../schema/json-schema.js';
import type { MemberBudget } from '../schema/json-value.js';
import type { Maybe } from '../util/promises.js';
import type { Access } from './access.js';

/** Members of a feature. */
export interface BodyMembers {
  readonly names: readonly string[];
  /**
   * Parses those that a body has.
   *
   * @param body has one of them at least
   * @param budget that of the request
   * @returns inputs of the request
   * @throws InvalidBodyError with all of their problems
   */
  parse(
    request: Request,
    access: Access,
    body: Readonly<Record<string, unknown>>,
    budget: MemberBudget,
  ): Maybe<Readonly<Record<string, unknown>>>;
  /** Properties for the document: those of the body, and those of the record that is answered. */
  describe(): Readonly<Record<'body' | 'answer', Readonly<Record<string, JsonSchema>>>>;
}
