/** Assertions about a write with an `Idempotency-Key` that is sent again. */
import { expect } from 'chai';
import type { Response } from 'supertest';

/** The first answer is of a write that was done, and the second one repeats it. */
export function expectReplay(first: Response, second: Response): void {
  expect([first.status < 300, first.headers['idempotent-replayed']]).to.deep.equal([true, undefined]);
  expect(second.headers['idempotent-replayed']).to.equal('true');
  expect(toldBy(second)).to.deep.equal(toldBy(first));
}

function toldBy({ status, text, headers }: Response) {
  return { status, text, headers: { ...headers, date: null, 'idempotent-replayed': null } };
}

/** Problems of requests with a key. */
export const UNDER_WAY = {
  detail: 'A request with this Idempotency-Key is under way; send it again a little later.',
};
export const OTHER = { detail: 'This Idempotency-Key was used for another request; use another key.' };
export const UNANSWERED = {
  detail:
    'The request with this Idempotency-Key was done, and its answer cannot be repeated; read what it has written.',
};
export const UNREAD = {
  detail:
    'Idempotency-Key is not kept for this body, which the route reads by itself, and nothing was done; leave the key out.',
};
