/** The access of a request: each rule is asked once, whoever needs what it says. */
import type { Request } from 'express';
import { restrictedNames } from '../compile/access-plan.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { Endpoint } from '../declare/crud-options.js';
import type { RuleName } from '../declare/endpoint.js';
import type { RecordInfo } from '../describe/model-info.js';
import { type Access, OPEN_ACCESS } from '../operation/access.js';
import { type Maybe, then } from '../util/maybe.js';
import { allows, compileAskAccess, compileAskUnreadable } from './evaluate-rules.js';

/** Field of a request that holds the results of its rules. */
const ASKED = Symbol('asked access');

/** A property, as the resource of a request is. */
interface AskingRequest extends Request {
  [ASKED]?: Asked;
}

/** Result of a rule, and its operation, null for none. A list, as there is one result most of the time. */
interface Asked {
  readonly ask: object;
  readonly endpoint: Endpoint | null;
  readonly earlier: Asked | undefined;
  /** A promise until it is known. */
  answer: unknown;
}

/** Asks for the access of a request to a resource; a second time it gives the same. */
export interface RequestAccess {
  /** @param endpoint what the request does; left out by what only needs the rows */
  (request: Request, endpoint?: Endpoint | null): Maybe<Access>;
  /** The attributes that the request may not read, for records in answers of other routes. */
  unreadable(request: Request): Maybe<readonly string[]>;
  /** True where the resource has a rule, and the rule allows the request. */
  allows(request: Request, rule: RuleName): Maybe<boolean>;
}

/** The access of requests to a resource. */
export function compileRequestAccess({
  info,
  access,
}: Pick<ResourcePlan, 'access'> & { readonly info: RecordInfo }): RequestAccess {
  if (access === null) {
    return Object.assign(() => OPEN_ACCESS, { unreadable: () => NONE, allows: () => false });
  }
  const hasReadRules = restrictedNames(access).size > 0;
  const askUnreadable = compileAskUnreadable(access);
  const unreadable = hasReadRules ? askedOnce(askUnreadable) : askUnreadable;
  return Object.assign(askedOnce(compileAskAccess(info, access, unreadable)), {
    unreadable,
    allows: (request: Request, rule: RuleName) =>
      then(allows(access.can.get(rule) ?? false, request), (answer) => answer === true),
  });
}

const NONE: readonly string[] = Object.freeze([]);

/** Caches results per request. A result without an operation has not checked that the request may use one. */
function askedOnce<T>(ask: (request: Request, endpoint: Endpoint | null, before?: T) => T) {
  return (request: AskingRequest, endpoint: Endpoint | null = null): T => {
    let known = request[ASKED];
    let before: T | undefined;
    while (known && (known.ask !== ask || (endpoint !== null && known.endpoint !== endpoint))) {
      if (known.ask === ask) before = known.answer as T;
      known = known.earlier;
    }
    if (known) return known.answer as T;
    const answer = ask(request, endpoint, before);
    // Asking may have asked for more.
    const entry: Asked = { ask, endpoint, answer, earlier: request[ASKED] };
    request[ASKED] = entry;
    if (answer instanceof Promise) {
      // Answers are made without waiting. Whether anything waits for a rule that throws is not known here.
      answer.then(
        (value) => {
          entry.answer = value;
        },
        () => {},
      );
    }
    return answer as T;
  };
}
