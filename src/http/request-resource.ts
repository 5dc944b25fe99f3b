/** Which resource a request is for, so that an error can be explained in that resource's terms. */
import type { Request } from 'express';
import type { ResourcePlan } from '../plan/resource-plan.js';

const RESOURCES = new WeakMap<Request, ResourcePlan>();

/** Remembers the resource for as long as the request lives. */
export function setRequestResource(request: Request, plan: ResourcePlan): void {
  RESOURCES.set(request, plan);
}

/** The resource a request reached, or undefined before or outside any. */
export function requestResource(request: Request): ResourcePlan | undefined {
  return RESOURCES.get(request);
}
