/** Holds the resource of a request, so that an error can be explained in that resource's terms. */
import type { Request } from 'express';
import type { ResourcePlan } from '../compile/resource-plan.js';

const RESOURCE = Symbol('resource');

/** A property, not a WeakMap: an entry for each request is what the garbage collector has most work with. */
interface ResourceRequest extends Request {
  [RESOURCE]?: ResourcePlan;
}

/** Remembers the resource for as long as the request lives. */
export function setRequestResource(request: Request, plan: ResourcePlan): void {
  (request as ResourceRequest)[RESOURCE] = plan;
}

/** The resource a request reached, or undefined before or outside any. */
export function requestResource(request: Request): ResourcePlan | undefined {
  return (request as ResourceRequest)[RESOURCE];
}
