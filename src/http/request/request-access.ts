/** The access of a request: each rule is asked once, whoever needs what it says. */
import type { Request } from 'express';
import type { Endpoint } from '../../metadata/crud-options.js';
import { type Access, OPEN_ACCESS } from '../../operation/access.js';
import { type AskAccess, compileAskAccess } from '../../operation/ask-access.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';

const ACCESS = Symbol('access');

/** What was answered, and of which operation; null is none. */
interface Asked {
  readonly endpoint: Endpoint | null;
  readonly access: Access | Promise<Access>;
}

/** A property, as the resource of a request is. */
interface AskingRequest extends Request {
  [ACCESS]?: Map<AskAccess, Asked>;
}

/** Asks for the access of a request to a resource; a second time it gives the same. */
export type RequestAccess = (request: Request, endpoint?: Endpoint | null) => Access | Promise<Access>;

/** The access of requests to a resource. */
export function compileRequestAccess({ info, access }: Pick<ResourcePlan, 'info' | 'access'>): RequestAccess {
  if (access === null) return () => OPEN_ACCESS;
  const ask = compileAskAccess(info, access);
  return (request: AskingRequest, endpoint = null) => {
    const asked = request[ACCESS] ?? new Map<AskAccess, Asked>();
    request[ACCESS] = asked;
    const known = asked.get(ask);
    // What was asked for no operation says nothing of one.
    if (known && (endpoint === null || known.endpoint === endpoint)) return known.access;
    const access = ask(request, endpoint);
    asked.set(ask, { endpoint, access });
    return access;
  };
}
