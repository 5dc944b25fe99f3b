/** A middleware of a user's: each request that may write is one unit of work, committed before its answer is sent. */
import { once } from 'node:events';
import type { NextFunction, RequestHandler, Response } from 'express';
import type { Sequelize } from 'sequelize';
import { unitOfWork } from '../../src/index.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Undoes the writes of a request that is refused. */
class Refused extends Error {}

/** @param sequelizeOf called at each request, because models are attached later; requests pass where it returns undefined, or nobody waits */
export function runInUnit(sequelizeOf: () => Sequelize | undefined): RequestHandler {
  return (request, response, next) => {
    const sequelize = sequelizeOf();
    if (!sequelize || SAFE.has(request.method) || response.destroyed) next();
    else void answerInUnit(sequelize, response, next);
  };
}

async function answerInUnit(sequelize: Sequelize, response: Response, next: NextFunction): Promise<void> {
  const before = response.getHeaders();
  const held = holdEnd(response);
  try {
    await unitOfWork(
      async () => {
        next();
        await Promise.race([held.ended, once(response, 'close')]);
        if (response.statusCode >= 400 || response.destroyed) throw new Refused();
      },
      { engine: { sequelize } },
    ).catch((error) => {
      if (!(error instanceof Refused)) throw error;
    });
    held.send();
  } catch (error) {
    // The commit has failed, or the answer could not be sent: the held answer is not true.
    held.drop();
    const added = response.headersSent ? [] : response.getHeaderNames().filter((name) => !(name in before));
    for (const name of added) response.removeHeader(name);
    next(error);
  }
}

/** Keeps the end of an answer back, and with it its headers. */
function holdEnd(response: Response) {
  const { end } = response;
  let send: (() => void) | undefined;
  const drop = () => {
    response.end = end;
  };
  const ended = new Promise<void>((resolve) => {
    response.end = ((...args: Parameters<typeof end>) => {
      send = () => void end.apply(response, args);
      resolve();
      return response;
    }) as typeof end;
  });
  return {
    ended,
    drop,
    send() {
      drop();
      send?.();
    },
  };
}
