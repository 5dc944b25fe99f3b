/** Rules that exist in the database only: row security, views with a check option, functions that raise, privileges, time. */

import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { DataType } from 'sequelize-typescript';
import { served } from '../../models/served.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { expectNothing, expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { serveTestApp } from '../../support/test-app.js';

const WORD = { type: DataType.STRING(40), allowNull: false };
/** Row security lets a client see all rows, and write those of its own. */
const Letter = served('letters', { sender: WORD });
/** A view that shows only short texts, and accepts nothing else. */
const Memo = served('memos', { text: WORD });
/** A row that names the action of a trigger. */
const Order = served('orders', { action: WORD });
/** A table that nothing has been granted of. */
const Ledger = served('ledgers');

const schemaFor = (role: string) => `
  CREATE ROLE ${role};
  CREATE TABLE letters (id serial PRIMARY KEY, sender text NOT NULL);
  INSERT INTO letters (sender) VALUES ('me');
  ALTER TABLE letters ENABLE ROW LEVEL SECURITY;
  CREATE POLICY reading ON letters FOR SELECT USING (true);
  CREATE POLICY writing ON letters USING (sender = 'me') WITH CHECK (sender = 'me');
  CREATE TABLE all_memos (id serial PRIMARY KEY, text text NOT NULL);
  INSERT INTO all_memos (text) VALUES ('short');
  CREATE VIEW memos AS SELECT * FROM all_memos WHERE length(text) < 10 WITH CHECK OPTION;
  CREATE TABLE orders (id serial PRIMARY KEY, action text NOT NULL);
  CREATE TABLE ledgers (id serial PRIMARY KEY);
  CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE wanted orders := coalesce(NEW, OLD); BEGIN
    CASE wanted.action
      WHEN 'refuse' THEN RAISE EXCEPTION 'the secret % of the database', wanted.action;
      WHEN 'forbid' THEN RAISE EXCEPTION 'the secret of the database' USING ERRCODE = 'insufficient_privilege';
      WHEN 'wait' THEN
        PERFORM set_config('transaction_timeout', '20ms', true);
        PERFORM pg_sleep(3);
      ELSE NULL;
    END CASE;
    RETURN wanted;
  END $$;
  CREATE TRIGGER act BEFORE INSERT OR UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION act();
  INSERT INTO orders (action) VALUES ('keep');
  CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it is a secret'; END $$;
  CREATE TRIGGER keep BEFORE DELETE ON orders FOR EACH ROW EXECUTE FUNCTION keep();
  GRANT SELECT, INSERT, UPDATE, DELETE ON letters, memos, all_memos, orders TO ${role};
  GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role};
`;

const FORBIDDEN = { detail: 'The database does not allow you to do this.' };
const REFUSED = { detail: 'A rule of the database refuses this.' };
const NOT_ACCEPTED = { detail: 'The database does not accept these values.' };

const ROLE = { pgbouncer: 'it connects as one role, whatever a connection asks for' };

describe('being refused by rules of the database', () => {
  const logger = new CapturedLog();
  const role = `refused_${randomBytes(6).toString('hex')}`;
  // Declared before its connection, so that it runs before that ends.
  after(() => control.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  const database = forSuite(() => freshDatabase('rules'));
  const control = forSuite(() => connectTo(database.url));
  const site = serveTestApp(async () => {
    await control.query(schemaFor(role));
    return {
      models: [Letter, Memo, Order, Ledger],
      database: { url: database.url },
      engine: { createAll: false, dialectOptions: { options: `-c role=${role}` } as object },
      bootstrap: { logger },
    };
  });

  beforeEach(() => logger.clear());

  except(ROLE).it('answers 403 to a write that row security refuses', async () => {
    const create = (sender: string) => site.agent.post('/letters').send({ sender });
    expect((await create('me')).status).to.equal(201);
    expectProblem(await create('you'), 403, FORBIDDEN);
    expectProblem(await site.agent.patch('/letters/1').send({ sender: 'you' }), 403, FORBIDDEN);
    expect(logger.lines).to.deep.equal([]);
  });

  it('answers 403 where a function says that it is not allowed', async () => {
    expectProblem(await site.agent.post('/orders').send({ action: 'forbid' }), 403, FORBIDDEN);
    expectProblem(await site.agent.patch('/orders/1').send({ action: 'forbid' }), 403, FORBIDDEN);
  });

  it('answers 422 to what a view does not show', async () => {
    const text = 'longer than ten';
    expect((await site.agent.post('/memos').send({ text: 'short' })).status).to.equal(201);
    expectProblem(await site.agent.post('/memos').send({ text }), 422, NOT_ACCEPTED);
    expectProblem(await site.agent.patch('/memos/1').send({ text }), 422, NOT_ACCEPTED);
  });

  it('answers 422 to what a function refuses, without its words', async () => {
    expectProblem(await site.agent.post('/orders').send({ action: 'refuse' }), 422, REFUSED);
    expectProblem(await site.agent.patch('/orders/1').send({ action: 'refuse' }), 422, REFUSED);
    expectProblem(await site.agent.delete('/orders/1'), 422, REFUSED);
    expect(logger.lines).to.deep.equal([]);
  });

  it('answers 503 where a transaction took too long', async function () {
    const { rows } = await control.query("SELECT FROM pg_settings WHERE name = 'transaction_timeout'");
    if (rows.length === 0) this.skip();
    for (const request of [
      site.agent.post('/orders').send({ action: 'wait' }),
      site.agent.patch('/orders/1').send({ action: 'wait' }),
    ]) {
      const answer = await request;
      expectProblem(answer, 503, { detail: 'The database is not available; try again.' });
      expect(answer.headers['retry-after']).to.equal('1');
    }
    expect((await site.agent.post('/orders').send({ action: 'none' })).status).to.equal(201);
    expect(logger.codes).to.deep.equal(['25P04']);
  });

  except(ROLE).it(
    'answers 500 where the server itself lacks a privilege, and says which in the log',
    async () => {
      const unexpected = { detail: 'Internal Server Error' };
      expectProblem(await site.agent.get('/ledgers'), 500, unexpected);
      expectProblem(await site.agent.get('/ledgers/1'), 500, unexpected);
      expectProblem(await site.agent.post('/ledgers').send({}), 500, unexpected);
      expectProblem(await site.agent.delete('/ledgers/1'), 500, unexpected);
      // A second after the test before, the log may have the number of its other failures.
      const codes = logger.lines.flatMap(({ details }) =>
        details['status'] === 500 ? [details['code']] : [],
      );
      expect(codes).to.deep.equal(Array(4).fill('42501'));
    },
  );

  it('deletes what no rule is about', async () => {
    expectNothing(await site.agent.delete('/letters/1'), 204);
  });
});
