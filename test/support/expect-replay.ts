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
