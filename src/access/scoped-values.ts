/** Attributes of a body that rows are scoped by, or that the request may not set. */
import { type Access, type AccessForm, allowsValue } from '../operation/access.js';
import type { BodyKind } from '../schema/derive-body-class.js';
import { bodyPointer, InvalidBodyError, readOnlyIssue } from '../schema/request-issue.js';

/**
 * A schema of the user's may let a scoped attribute pass; and where a request acts for several, it names one of them, also
 * where the attribute has a default.
 *
 * @throws InvalidBodyError
 */
export function checkScopedValues(
  kind: BodyKind,
  values: Readonly<Record<string, unknown>>,
  access: Access,
): void {
  for (const [name, mode] of access.form.scope) {
    const value = values[name];
    const pointer = bodyPointer(name);
    if (value === undefined) {
      if (kind === 'update' || mode !== 'several') continue;
      throw new InvalidBodyError([{ pointer, code: 'isDefined', detail: `${name} is required.` }]);
    }
    if (kind === 'update' || mode === 'one') {
      throw new InvalidBodyError([readOnlyIssue(name)]);
    }
    if (!allowsValue(access, name, value)) {
      throw new InvalidBodyError([
        { pointer, code: 'scope', detail: `This request may not write records with this ${name}.` },
      ]);
    }
  }
}

/**
 * Checks a body that parameters of the user's have read. Its class may have attributes that the request may not set.
 *
 * @throws InvalidBodyError
 */
export function checkSentNames(body: unknown, { unwritable }: AccessForm): void {
  const sent = [body].flat().flatMap((part) => Object.keys(part ?? {}));
  const issues = [...unwritable].filter((name) => sent.includes(name)).map(readOnlyIssue);
  if (issues.length > 0) throw new InvalidBodyError(issues);
}
