/**
 * Turns of the event loop stay short where many clients are served. Node accepts one connection in each turn, since libuv 1.45. Where a
 * turn executes the requests of all connections, the last of a thousand clients that come together waits for seconds.
 */
import { AsyncResource } from 'node:async_hooks';
import type { Socket } from 'node:net';

/** Requests under way up to which each is executed at once, and requests that a turn executes at most beyond them. */
const AT_ONCE = 64;
/** Requests that a turn executes at most while connections arrive. */
const BESIDE_ARRIVALS = 8;
/** Turns without a new connection after which no more are expected. */
const QUIET_TURNS = 4;

/** The executions of requests that wait for a turn, first come, first served. */
const held: (() => void)[] = [];
/** Turns left in which connections are expected. */
let arrivingTurns = 0;
let isTurnDue = false;

/** A connection has sent its first request: others are expected in the next turns. */
export function expectArrivals(): void {
  arrivingTurns = QUIET_TURNS;
  endTurnSoon();
}

/**
 * Executes a request of a connection, now or in one of the next turns.
 *
 * @param underway number of requests that are executed in the process, this one included
 */
export function executeInTurn(underway: number, socket: Socket, run: () => void): void {
  if (underway <= AT_ONCE && arrivingTurns === 0 && held.length === 0) {
    run();
    return;
  }
  // The async context is that of its own arrival. AsyncResource.bind takes as long as the rest of a read: it defines two properties.
  const context = new AsyncResource('crud-controllers:request');
  held.push(() => {
    if (!socket.destroyed) context.runInAsyncScope(run);
  });
  endTurnSoon();
}

function endTurnSoon(): void {
  if (isTurnDue) return;
  isTurnDue = true;
  setImmediate(endTurn);
}

function endTurn(): void {
  isTurnDue = false;
  if (arrivingTurns > 0) arrivingTurns -= 1;
  const most = arrivingTurns > 0 ? BESIDE_ARRIVALS : AT_ONCE;
  // Before any is executed: one that throws does not keep the others back.
  if (arrivingTurns > 0 || held.length > 0) endTurnSoon();
  for (let count = Math.min(held.length, most); count > 0; count -= 1) held.shift()?.();
}
