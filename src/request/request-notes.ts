/** Facts of a request by which its errors are explained: its resource, the current item, and the names that messages may have. */
import type { Application, Request } from 'express';
import { type ResourcePlan, restrictedNames } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import type { AccessForm } from '../operation/access.js';
import type { ItemPlace } from '../schema/request-issue.js';
import { applicationChain } from './express-internals.js';

const RESOURCE = Symbol('resource');
const ITEM = Symbol('current item');
const TOLD = Symbol('told names');

/**
 * Place of an item in a body: an index from 0 where the body is a list, or the segments of its pointer such as `lines/create/0`; `'unknown'`
 * is one without a known place; null is none.
 */
export type CurrentItem = ItemPlace | null;

/** Limits of the names in the errors of a request. */
export interface ShownNames {
  /** Attributes that are not named. */
  readonly hidden: ReadonlySet<string>;
  /** Attributes that the request may not set. */
  readonly unwritable: ReadonlySet<string>;
}

/** Properties, not WeakMaps: an entry for each request makes most work for the garbage collector. */
interface NotedRequest extends Request {
  [RESOURCE]?: ResourcePlan;
  [ITEM]?: CurrentItem;
  [TOLD]?: ShownNames;
}

/** Remembers the resource for as long as the request lives. */
export function setRequestResource(request: NotedRequest, plan: ResourcePlan): void {
  request[RESOURCE] = plan;
}

/** The resource that a request has reached; undefined before or outside any. */
export function requestResource(request: NotedRequest): ResourcePlan | undefined {
  return request[RESOURCE];
}

/** The plans of applications. */
const SERVED = new WeakMap<Application, readonly ResourcePlan[]>();

/** Remembers the resources of an application, beside those that it has already. */
export function addServedPlans(app: Application, plans: readonly ResourcePlan[]): void {
  SERVED.set(app, [...(SERVED.get(app) ?? []), ...plans]);
}

/** The resource of a model in the application of a request. */
export function servedPlan({ app }: Request, model: ModelClass): ResourcePlan | undefined {
  for (const each of applicationChain(app)) {
    const found = SERVED.get(each)?.find((plan) => plan.model === model);
    if (found) return found;
  }
  return undefined;
}

/** Remembers the item that a request is at: an error that is thrown then refuses that item. */
export function setCurrentItem(request: NotedRequest, item: CurrentItem): void {
  request[ITEM] = item;
}

/** The item; null where the request is about no single one. */
export function currentItem(request: NotedRequest): CurrentItem {
  return request[ITEM] ?? null;
}

/** Remembers the attributes that a request may read and write, and the names that it has sent. */
export function setToldNames(
  request: NotedRequest,
  { unreadable, unwritable }: AccessForm,
  body?: unknown,
): void {
  const isSent = (name: string) => typeof body === 'object' && body !== null && Object.hasOwn(body, name);
  request[TOLD] = { hidden: new Set([...unreadable].filter((name) => !isSent(name))), unwritable };
}

/** Limits for a resource. Where no rule was evaluated, all attributes with a rule are hidden. */
export function shownNames(request: NotedRequest, plan: ResourcePlan | undefined): ShownNames {
  const isOther = plan !== undefined && plan !== request[RESOURCE];
  const told = isOther ? undefined : request[TOLD];
  return told ?? { hidden: restrictedNames(plan?.access ?? null), unwritable: new Set() };
}
