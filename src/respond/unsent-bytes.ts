/** The process's budget of bytes that clients have not taken yet. */
import { HEAP_LIMIT } from '../postgres/index.js';

/** They are outside of V8's heap, and may be half as many as fit into it. */
const MAX_UNSENT = HEAP_LIMIT / 2;

/** The words of a refusal, with status 503. */
export const TOO_MUCH_UNSENT = 'Clients have not taken too many answers; try again.';

let unsent = 0;

/** The bytes of a connection have become more, or fewer. */
export function addUnsent(bytes: number): void {
  unsent += bytes;
}

/**
 * So many bytes more are within the budget.
 *
 * @param share of the budget, from 0 to 1
 */
export function isWithin(bytes: number, share = 1): boolean {
  return unsent + bytes <= MAX_UNSENT * share;
}

/** An answer of so many bytes fits beside the others. One alone may be as long as it is. */
export function hasRoom(bytes: number, share?: number): boolean {
  return unsent === 0 || isWithin(bytes, share);
}
