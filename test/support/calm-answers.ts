/** Answers of an application while its database is in trouble: success, or that it is not available now. */
import { expect } from 'chai';
import type { Response } from 'supertest';

/** Every answer is a 2xx, a 503 with the time of the next attempt, or a 504; none shows more of the trouble. */
export function expectCalm(answers: readonly Response[]): void {
  for (const { status, body, headers } of answers) {
    if (status >= 200 && status < 300) continue;
    if (status === 503) {
      expect(body.detail).to.match(
        /^(?:The database is not available|Too many requests wait for the database); try again\.$/,
      );
      expect(headers['retry-after']).to.equal('1');
    } else {
      expect({ status, body }).to.deep.equal({
        status: 504,
        body: { detail: 'The database did not answer in time.' },
      });
    }
  }
}

/** Repeats a request at once until so many in a row have succeeded; none may fail after two seconds. */
export async function expectRecovery(request: () => PromiseLike<Response>, inARow = 10): Promise<void> {
  const deadline = Date.now() + 2_000;
  for (let succeeded = 0; succeeded < inARow; ) {
    const { status } = await request();
    succeeded = status < 300 ? succeeded + 1 : 0;
    if (status >= 300 && Date.now() > deadline) expect.fail(`Still ${status} after two seconds`);
  }
}
