/** Which attributes an error may name to a request: none that it may not read, unless it has sent them. */
import type { Request } from 'express';
import type { AccessForm } from '../../operation/access.js';
import { restrictedNames } from '../../plan/access-plan.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';

const TOLD = Symbol('told names');

/** What the errors of a request tell of attributes. */
export interface ToldNames {
  /** Those that are not named. */
  readonly hidden: ReadonlySet<string>;
  /** Those that the request may not set. */
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

/** What errors tell of the attributes of a resource. Where no rule was asked, none that has one is named. */
export function toldNames(request: TellingRequest, plan: ResourcePlan | undefined): ToldNames {
  return request[TOLD] ?? { hidden: restrictedNames(plan?.access ?? null), unwritable: new Set() };
}
