import { expect } from 'chai';
import { HttpError } from 'routing-controllers';
import {
  ConcurrentModificationError,
  MultipleResultsFound,
  NotFoundError,
  PersistenceError,
  RelationNotLoaded,
} from '../../../src/errors/errors.js';
import { httpExceptionFor, statusFor } from '../../../src/respond/problem.js';

const TABLE: readonly (readonly [error: unknown, status: number, message: string])[] = [
  [new NotFoundError('No such row.'), 404, 'No such row.'],
  [new MultipleResultsFound('Several rows.'), 409, 'Several rows.'],
  [new ConcurrentModificationError('Changed.'), 409, 'Changed.'],
  [new RelationNotLoaded('Not loaded.'), 500, 'Not loaded.'],
  [new PersistenceError('Other.'), 500, 'Other.'],
  [new Error('hunter22'), 500, 'Internal Server Error'],
  [Object.assign(new Error('hunter22'), { httpCode: 404 }), 500, 'Internal Server Error'],
  [null, 500, 'Internal Server Error'],
  ['hunter22', 500, 'Internal Server Error'],
];

for (const [error, status, message] of TABLE) {
  describe(`${error instanceof Error ? error.name : String(error)} (${message})`, () => {
    it(`has the status ${status}`, () => {
      expect(statusFor(error)).to.equal(status);
    });

    it('is an HttpError with that status and the message, and is kept as its cause', () => {
      const exception = httpExceptionFor(error);
      expect(exception).to.be.instanceOf(HttpError);
      expect([exception.httpCode, exception.message]).to.deep.equal([status, message]);
      expect((exception as { cause?: unknown }).cause).to.equal(error);
    });
  });
}
