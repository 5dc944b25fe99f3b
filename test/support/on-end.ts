/** Runs code of a test at the moment when an answer ends. */
import type { RequestHandler } from 'express';

/** A middleware that makes an `end` of its own for each response, as those do that compress or measure. */
export function onEnd(look: () => void): RequestHandler {
  return (_request, response, next) => {
    const { end } = response;
    response.end = ((...args: Parameters<typeof end>) => {
      look();
      return end.apply(response, args);
    }) as typeof end;
    next();
  };
}
