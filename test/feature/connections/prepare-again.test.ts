/** Statements that the connection to the server no longer has, as behind a pooler that gives each transaction another one. */
// @runs once
import { expect } from 'chai';
import pg from 'pg';
import type { TextResult } from '../../../src/postgres/protocol/batch.js';
import type { DriverClient } from '../../../src/postgres/protocol/pg-internals.js';
import { createExecutor } from '../../../src/postgres/protocol/pg-text-query.js';
import { PreparedStatement } from '../../../src/postgres/protocol/prepared-statement.js';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';

const LIMIT = new PreparedStatement("SELECT set_config('lock_timeout', '50ms', true)");
const READ = new PreparedStatement('SELECT $1::int + 1');

describe('preparing statements again', () => {
  after(() => client.end());

  const database = forSuite(() => freshDatabase());
  let client: pg.Client;
  const stale: unknown[] = [];
  const executor = createExecutor(pg, (error) => stale.push((error as { code?: string }).code));

  before(async () => {
    client = new pg.Client(database.url);
    await client.connect();
  });

  /** What a statement gives, alone or behind another one. */
  const execute = (before?: PreparedStatement): Promise<string | null | undefined> =>
    new Promise((resolve, reject) => {
      const settle = (error: Error | null, result?: TextResult) =>
        error ? reject(error) : resolve(result?.rows[0]?.[0]);
      // pg's types ask for more arguments than its methods.
      executor.execute(client as object as DriverClient, {
        before: before ? [{ statement: before, values: [] }] : [],
        statement: READ,
        executions: [{ values: ['6'], settle }],
        end() {},
      });
    });
  const codeOf = (execution: Promise<unknown>): Promise<unknown> =>
    execution.then(
      () => 'none',
      ({ code }) => code,
    );

  for (const [what, first, second] of [
    ['alone, and then behind another one', undefined, LIMIT],
    ['behind another one, and then alone', LIMIT, undefined],
    ['behind another one twice', LIMIT, LIMIT],
    ['alone twice', undefined, undefined],
  ] as const) {
    it(`prepares what is gone when it is executed ${what}`, async () => {
      expect(await execute(LIMIT)).to.equal('7');
      await client.query('DEALLOCATE ALL');
      stale.length = 0;
      expect(await codeOf(execute(first))).to.equal('26000');
      expect(await execute(second)).to.equal('7');
      expect(await execute(first)).to.equal('7');
      expect(stale).to.deep.equal(['26000']);
    });
  }
});
