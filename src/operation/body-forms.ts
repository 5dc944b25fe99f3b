/** Forms of values in a body that are not those of their columns. */
import type { JsonSchema } from '../schema/json-schema.js';
import type { RequestIssue } from '../schema/request-issue.js';
import type { AccessForm } from './access.js';

/** Members of a body whose values have a form that is not that of their column. */
export interface BodyForms {
  /**
   * Takes them out of a body; null where it has none.
   *
   * @param properties that the request may set
   */
  take(body: unknown, properties: ReadonlySet<string>, form: AccessForm): TakenMembers | null;
  describe(schema: JsonSchema): JsonSchema;
}

/** Members that were taken out of a body. */
export interface TakenMembers {
  /** The body without them. */
  readonly rest: object;
  readonly values: Readonly<Record<string, unknown>>;
  readonly issues: readonly RequestIssue[];
}
