/** Evaluates the rules of access of a request's query parameters. */
import type { Request } from 'express';
import type { RequestAccess } from '../access/evaluate-rules.js';
import type { RuleName } from '../declare/endpoint.js';
import type { Input } from '../operation/feature.js';
import { all, type Maybe, then } from '../util/promises.js';
import { parseQueryString } from './query/query-string.js';

/** Gives the rules of a request's parameters that allow it. Only those that it names are asked. */
export type AskAllowed = (request: Request) => Maybe<ReadonlySet<RuleName>>;

/** For requests that name no input with a rule. */
export const NONE_ALLOWED: ReadonlySet<RuleName> = new Set();

/** Compiles it for the inputs of an endpoint; null where none has a rule. */
export function compileAskAllowed(inputs: readonly Input[], { allows }: RequestAccess): AskAllowed | null {
  const ruled = inputs.flatMap(({ name, rule }) => (rule === undefined ? [] : [{ name, rule }]));
  if (ruled.length === 0) return null;
  return (request) => {
    const { url } = request;
    // Names may be percent-encoded.
    if (!ruled.some(({ name }) => url.includes(name)) && !url.includes('%')) return NONE_ALLOWED;
    const { parameters, issues } = parseQueryString(url);
    const isNamed = (name: string) =>
      parameters.has(name) || issues.some((issue) => 'parameter' in issue && issue.parameter === name);
    const wanted = ruled.flatMap(({ name, rule }) => (isNamed(name) ? rule : []));
    if (wanted.length === 0) return NONE_ALLOWED;
    return then(
      all(wanted.map((rule) => allows(request, rule))),
      (answers) => new Set(wanted.filter((_, index) => answers[index])),
    );
  };
}
