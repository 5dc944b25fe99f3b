/** Answers that can be compared: a middleware of the user's sets the same id in all of them. */
import type { Express } from 'express';

/** To be called before `bootstrap`. */
export function useSameRequestId(app: Express): void {
  app.use((_request, response, next) => {
    response.setHeader('X-Request-Id', 'same');
    next();
  });
}
