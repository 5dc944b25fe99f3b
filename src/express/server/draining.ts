/** Holds the applications that are about to stop. */
import type { Application } from 'express';
import { applicationChain } from '../../request/express-internals.js';

const DRAINING = new WeakSet<Application>();

/** From now on the application says that it is not ready. */
export function startDraining(app: Application): void {
  DRAINING.add(app);
}

/** True where the application, or one that it is mounted in, is about to stop. */
export function isDraining(app: Application): boolean {
  for (const each of applicationChain(app)) if (DRAINING.has(each)) return true;
  return false;
}
