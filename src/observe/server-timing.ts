/** The header `Server-Timing` (W3C): how long the statements of a request took, how long they waited, and all of it. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestHandler } from 'express';
import onHeaders from 'on-headers';
import { type StatementMessage, statementChannel } from '../diagnostics/channels.js';

interface Times {
  db: number;
  wait: number;
}

const times = new AsyncLocalStorage<Times>();
/** Whose the statements under way are. */
const underway = new WeakMap<object, Times>();
let isSubscribed = false;

/** Adds the header. Statements that go on at the same time are added up. */
export function serverTiming(): RequestHandler {
  subscribe();
  return (_request, response, next) => {
    const started = performance.now();
    const own: Times = { db: 0, wait: 0 };
    onHeaders(response, () => {
      const total = performance.now() - started;
      const metrics = Object.entries({ ...own, total });
      response.setHeader(
        'Server-Timing',
        metrics.map(([name, ms]) => `${name};dur=${ms.toFixed(2)}`).join(', '),
      );
    });
    times.run(own, next);
  };
}

/** Once for all applications: statements know nothing of them. */
function subscribe(): void {
  if (isSubscribed) return;
  isSubscribed = true;
  statementChannel.start.subscribe((message) => {
    const own = times.getStore();
    if (own) underway.set(message as object, own);
  });
  statementChannel.asyncEnd.subscribe((message) => {
    const own = underway.get(message as object);
    if (!own) return;
    const { wait, duration } = message as StatementMessage;
    own.wait += wait ?? 0;
    own.db += duration ?? 0;
  });
}
