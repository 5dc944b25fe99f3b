/** Applications and routers whose requests are executed while clients take the answers. */
import type { Express, NextFunction, Request, Response } from 'express';
import { admit } from './open-connection.js';
import { mustRefuse, refusal } from './refuse-answer.js';

/** Express calls this for each request, whatever server has read it. */
interface Handling {
  handle(request: Request, response: Response, next?: NextFunction): void;
}

const ADMITTING = new WeakSet<Express>();

/** Has an application admit its requests, those of routes that were added before, too. A layer of Express would cost more. */
export function admitRequests(app: Express): void {
  const handling = app as unknown as Handling;
  if (ADMITTING.has(app)) return;
  ADMITTING.add(app);
  const { handle } = handling;
  handling.handle = (request, response, next) =>
    admit(response, () => void Reflect.apply(handle, app, [request, response, next]));
}

/** Does the same for a router that is mounted anywhere, as its first layer. */
export function admitThenGoOn(request: Request, response: Response, next: NextFunction): void {
  admit(response, () => next(mustRefuse(request) ? refusal() : undefined));
}
