/** Limits of statements, in all the places where they may be set: the address, the environment and `dialectOptions`. */
// @runs once
import { expect } from 'chai';
import { type QueryOptionsWithType, QueryTypes } from 'sequelize';
import { type EngineOptions, engineLifespan } from '../../../src/index.js';
import { configProblems } from '../../support/config-error.js';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';

const LIMITS = `
  SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
    current_setting('idle_in_transaction_session_timeout') AS idle`;
const SAFE = { statement: '5s', lock: '2s', idle: '10s' };
const MEND = 'use a whole number of milliseconds, 0 for no limit.';

describe('a limit of statements', () => {
  const database = forSuite(() => freshDatabase());

  /** The limits of a connection of each pool. */
  const limitsOf = async (parameters: Readonly<Record<string, string>> = {}, options: EngineOptions = {}) => {
    const url = new URL(database.url);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const address = url.href.replaceAll('+', '%20');
    await using engine = await engineLifespan(address, { models: [], ...options })();
    const ask = async (useMaster: boolean) => {
      const type = { type: QueryTypes.SELECT, useMaster } as QueryOptionsWithType<QueryTypes.SELECT>;
      return (await engine.sequelize.query<object>(LIMITS, type))[0];
    };
    return [await ask(true), await ask(false)];
  };
  const expectLimits = (found: readonly unknown[], changed: object) =>
    expect(found).to.deep.equal([
      { ...SAFE, ...changed },
      { ...SAFE, ...changed },
    ]);

  for (const options of [
    '-c statement_timeout=20s',
    '-cwork_mem=8MB --statement-timeout=20000',
    '-c STATEMENT_TIMEOUT=20s',
  ]) {
    it(`is that of '${options}' in the address, beside the other defaults`, async () =>
      expectLimits(await limitsOf({ options }), { statement: '20s' }));
  }

  it('is the default where options set another one, or have its name in a value', async () => {
    expectLimits(await limitsOf({ options: '-c lock_timeout=0' }), { lock: '0' });
    expectLimits(await limitsOf({ options: '-c my.statement_timeout=1' }), {});
  });

  it('is that of PGOPTIONS', async () => {
    const before = process.env['PGOPTIONS'];
    process.env['PGOPTIONS'] = '-c statement_timeout=20s';
    try {
      expectLimits(await limitsOf(), { statement: '20s' });
      expectLimits(await limitsOf({ options: '-c lock_timeout=1s' }), { lock: '1s' });
    } finally {
      if (before === undefined) delete process.env['PGOPTIONS'];
      else process.env['PGOPTIONS'] = before;
    }
  });

  it('is that of dialectOptions, and of a parameter of the address, before one in options', async () => {
    const options = '-c statement_timeout=20s';
    const dialectOptions = { statement_timeout: '7000', lock_timeout: false, options };
    expectLimits(await limitsOf({}, { dialectOptions }), { statement: '7s', lock: '0' });
    expectLimits(await limitsOf({ options, statement_timeout: '8000' }), { statement: '8s' });
  });

  it('of queries is none where the address has 0', async () =>
    expectLimits(await limitsOf({ query_timeout: '0' }), {}));

  it('is a number of milliseconds, and is refused with its name otherwise', async () => {
    const dialectOptions = {
      connectionTimeoutMillis: Number.NaN,
      lock_timeout: 1.5,
      statement_timeout: '30s',
      query_timeout: 3_000_000_000,
      idle_in_transaction_session_timeout: undefined,
    };
    expect(await configProblems(() => limitsOf({}, { dialectOptions }))).to.deep.equal([
      `dialectOptions.connectionTimeoutMillis is NaN; ${MEND}`,
      `dialectOptions.lock_timeout is 1.5; ${MEND}`,
      `dialectOptions.statement_timeout is "30s"; ${MEND}`,
      `dialectOptions.query_timeout is 3000000000; ${MEND}`,
      `dialectOptions.idle_in_transaction_session_timeout is undefined; ${MEND}`,
    ]);
    expect(await configProblems(() => limitsOf({ lock_timeout: '2min' }))).to.deep.equal([
      `lock_timeout is "2min"; ${MEND}`,
    ]);
  });
});
