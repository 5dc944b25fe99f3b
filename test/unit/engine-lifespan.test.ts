import { expect } from 'chai';
import { engineLifespan } from '../../src/engine-lifespan.js';
import { ConfigError } from '../../src/util/config-error.js';
import { caughtError } from '../support/caught-error.js';

describe('the DSN of engineLifespan', () => {
  for (const [dsn, problem] of [
    ['', 'The DSN is empty: the environment variable that it comes from is not set'],
    [undefined, 'The DSN is undefined: the environment variable that it comes from is not set'],
    [5, 'The DSN is number'],
    ['hunter22', 'The DSN is not a URL'],
    ['localhost:5432/test', 'The DSN is not a URL'],
    ['ann:hunter22@localhost/test', 'The DSN is not a URL'],
    ['mysql://user:hunter22@localhost/test', "The DSN begins with 'mysql:'"],
  ] as const) {
    it(`is refused before anything connects: ${problem}`, async () => {
      const error = await caughtError(() => engineLifespan(dsn as string, { models: [] })());
      expect(error).to.be.instanceOf(ConfigError);
      expect((error as ConfigError).problems).to.deep.equal([
        `${problem}; use one such as postgres://user:password@host:5432/database.`,
      ]);
    });
  }
});
