/** The `fields` parameter -> the properties to answer with. */

import type { RequestIssue } from '../schema/request-issue.js';
import { didYouMean } from '../util/did-you-mean.js';
import { quote } from './query-string.js';

/** Parses `name,population`; null is all. What is wrong is added to `issues`. */
export function parseFields(
  readable: readonly string[],
  text: string | undefined,
  issues: RequestIssue[],
): readonly string[] | null {
  if (text === undefined) return null;
  const names = text.split(',', readable.length + 1);
  const unknown = names.filter((name) => !readable.includes(name));
  issues.push(...unknown.map((name) => unknownIssue(readable, name)));
  const repeated = names.find((name, index) => readable.includes(name) && names.indexOf(name) !== index);
  if (repeated !== undefined) {
    issues.push({
      parameter: 'fields',
      code: 'fields.repeated',
      detail: `'${repeated}' may be named once in fields.`,
    });
  }
  return Object.freeze(readable.filter((name) => names.includes(name)));
}

function unknownIssue(readable: readonly string[], name: string): RequestIssue {
  return {
    parameter: 'fields',
    code: 'fields.unknown',
    detail: `There is no field ${quote(name)}.${didYouMean(name, readable)} The fields are ${readable.join(', ')}.`,
    allowed: readable,
  };
}
