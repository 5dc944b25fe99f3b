/** Decides the attributes that an error may name to a request: none that it may not read, unless it has sent them. */
import type { Request } from 'express';
import { restrictedNames } from '../compile/access-plan.js';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { AccessForm } from '../operation/access.js';

const TOLD = Symbol('told names');

/** Limits of the names in the errors of a request. */
export interface ToldNames {
  /** Attributes that are not named. */
  readonly hidden: ReadonlySet<string>;
  /** Attributes that the request may not set. */
  readonly unwritable: ReadonlySet<string>;
}

/** A property, as the resource of a request is. */
interface TellingRequest extends Request {
  [TOLD]?: ToldNames;
}

/** Remembers what a request may read and write, and the names that it has sent. */
export function setToldNames(
  request: TellingRequest,
  { unreadable, unwritable }: AccessForm,
  body?: unknown,
): void {
  const isSent = (name: string) => typeof body === 'object' && body !== null && Object.hasOwn(body, name);
  request[TOLD] = { hidden: new Set([...unreadable].filter((name) => !isSent(name))), unwritable };
}

/** Limits for a resource. Where no rule was evaluated, all attributes with a rule are hidden. */
export function toldNames(request: TellingRequest, plan: ResourcePlan | undefined): ToldNames {
  return request[TOLD] ?? { hidden: restrictedNames(plan?.access ?? null), unwritable: new Set() };
}
