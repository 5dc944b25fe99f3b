/** A password that is not percent-encoded would be read as a host, a database or a user: no error shows a piece of it. */
import { inspect } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { ConfigError, engineLifespan } from '../../src/index.js';
import { captureStderr } from '../support/captured-stderr.js';
import { caughtError } from '../support/caught-error.js';

/** Nothing listens there. */
const AUTHORITY = '127.0.0.1:1';

const ENCODED =
  'with its user and password percent-encoded, as encodeURIComponent does (%40 for @, %2F for /, %23 for #, %3F for ?, %25 for %).';

const DSN = 'The DSN: such as postgres://user:password@host:5432/database';

/** Everything that somebody could see of a start that fails. */
async function traceOf(dsn: string, options: object = {}): Promise<{ error: ConfigError; trace: string }> {
  const { result: error, lines } = await captureStderr(() =>
    caughtError(() => engineLifespan(dsn, { models: [], ...options })()),
  );
  expect(error).to.be.instanceOf(ConfigError);
  const { message, stack, cause } = error as ConfigError;
  return {
    error: error as ConfigError,
    trace: [message, stack, inspect(cause), inspect(error, { depth: 9 }), ...lines].join('\n'),
  };
}

/** Three characters in a row that cannot be there by chance. */
function piecesOf(password: string): string[] {
  return Array.from({ length: password.length - 2 }, (_, at) => password.slice(at, at + 3)).filter((piece) =>
    /[QXZ]/.test(piece),
  );
}

const passwords = fc.string({
  unit: fc.constantFrom(...'QXZ9@/#?%:\\ &=+$.-~[]'),
  minLength: 3,
  maxLength: 14,
});

describe('a password in a URL', () => {
  const expectHidden = (trace: string, password: string): void => {
    for (const secret of [password, encodeURIComponent(password)]) {
      for (const piece of piecesOf(secret)) expect(trace, JSON.stringify(password)).to.not.include(piece);
    }
  };

  it('is never shown, in no piece of three characters', () =>
    fc.assert(
      fc.asyncProperty(passwords, async (password) => {
        for (const url of [`ann:${password}@${AUTHORITY}/atlas`, `ann:${password}@${AUTHORITY}`]) {
          expectHidden((await traceOf(`postgres://${url}`)).trace, password);
        }
        const encoded = `postgres://ann:${encodeURIComponent(password)}@${AUTHORITY}/atlas`;
        const { error, trace } = await traceOf(encoded);
        expectHidden(trace, password);
        expect(error.message).to.include(`PostgreSQL at ${AUTHORITY}, database 'atlas'`);
      }),
      { numRuns: 100 },
    ));

  for (const password of ['p@ss', '12/ss', '12#ss', '12?ss', 'a%zz', 'a\\b', 'p@ss/word', 'a b', '%E4']) {
    const url = `ann:${password}@${AUTHORITY}/0`;
    const expectAdvice = async (what: string, dsn: string, options?: object): Promise<void> => {
      const [name, example] = what.split(': ');
      const { problems } = (await traceOf(dsn, options)).error;
      expect(problems).to.deep.equal([`${name} cannot be read for certain; use one ${example}, ${ENCODED}`]);
    };

    it(`such as ${JSON.stringify(password)} is to be percent-encoded`, async () => {
      await expectAdvice(DSN, `postgres://${url}`);
      await expectAdvice(DSN, `postgres://${AUTHORITY}/0`, { replicas: [`postgres://${url}`] });
      await expectAdvice(
        'The engine option cache: that begins with redis:// or rediss://',
        `postgres://${AUTHORITY}/0`,
        { cache: `redis://${url}` },
      );
      await expectAdvice(
        'The engine option clickhouse: that begins with http:// or https://',
        `postgres://${AUTHORITY}/0`,
        {
          clickhouse: `http://${url}`,
        },
      );
    });
  }
});
