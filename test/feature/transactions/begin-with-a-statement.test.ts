/** A unit of work begins with its first statement, and is one transaction whatever that statement is and becomes. */
import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import type { Client } from 'pg';
import { QueryTypes, Transaction, UniqueConstraintError } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { dbSession, Repository, unitOfWork } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { caughtError } from '../../support/caught-error.js';
import { except } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Table({ tableName: 'jars', timestamps: false })
class Jar extends NumberedRow {
  @Column({ type: DataType.TEXT, unique: true }) declare name: string | null;
  @Column(DataType.INTEGER) declare size: number | null;
}

describe('a unit of work', () => {
  const jars = new Repository(Jar);
  const sql = new SqlLog();
  const sent = new EventEmitter();
  const logging = (message: string) => {
    sql.record(message);
    sent.emit('statement');
  };
  let url = '';
  const site = serveTestApp(async () => {
    const database = await freshDatabase('begin');
    url = database.url;
    return { models: [Jar], bootstrap: { models: [] }, database, engine: { logging, pool: { max: 1 } } };
  });
  const control = forSuite(() => connectTo(url));

  const names = async () =>
    (await control.query('SELECT name FROM jars ORDER BY id')).rows.map(({ name }) => name);
  const ask = (text: string, transaction: Transaction) =>
    site.engine.sequelize.query<Record<string, string>>(text, { type: QueryTypes.SELECT, transaction });
  const fail = () => {
    throw new RangeError('no');
  };

  beforeEach(async () => {
    await control.query("TRUNCATE jars RESTART IDENTITY; INSERT INTO jars (name, size) VALUES ('first', 1)");
    await control.query('ALTER TABLE jars ALTER size TYPE integer');
  });

  it('sends nothing where it has no statement', async () => {
    const { result, statements } = await sql.during(() => unitOfWork(async () => 'done'));
    expect([result, statements]).to.deep.equal(['done', []]);
  });

  const ours = () => jars.create({ name: 'one' });
  const theirs = () => Jar.create({ name: 'two' });
  for (const [what, first] of [
    ['a statement of ours', ours],
    ["a query of Sequelize's", theirs],
    ['both at the same time', () => Promise.all([ours(), theirs()])],
    ['both, the other way round', () => Promise.all([theirs(), ours()])],
  ] as const) {
    it(`rolls back what began with ${what}`, async () => {
      expect(await caughtError(() => unitOfWork(() => first().then(fail)))).to.be.instanceOf(RangeError);
      expect(await names()).to.deep.equal(['first']);
    });
  }

  it('rolls back what is sent on its connection by hand', async () => {
    await caughtError(() =>
      unitOfWork(async ({ transaction }) => {
        const { connection } = transaction as object as { connection: Client };
        await connection.query("INSERT INTO jars (name) VALUES ('by hand')");
        return fail();
      }),
    );
    expect(await names()).to.deep.equal(['first']);
  });

  it('refuses what comes after a first statement that failed', async () => {
    const codes: unknown[] = [];
    const note = (error: { readonly parent?: { readonly code?: string } }) =>
      void codes.push(error.parent?.code);
    const error = await caughtError(() =>
      unitOfWork(async () => {
        await jars.create({ name: 'first' }).catch(note);
        await Promise.all([
          jars.create({ name: 'second' }).catch(note),
          jars.get(1).catch(note),
          Jar.create({ name: 'third' }).catch(note),
        ]);
      }),
    );
    expect(codes).to.deep.equal(['23505', '25P02', '25P02', '25P02']);
    expect(error).to.have.property('message').that.includes('savepoint');
    expect(await names()).to.deep.equal(['first']);
  });

  it('fails where it cannot begin, even if the error of its first statement is caught', async () => {
    const isolationLevel = 'NO SUCH LEVEL' as Transaction.ISOLATION_LEVELS;
    const swallowed: unknown[] = [];
    const work = () => jars.create({ name: 'second' }).catch((error: unknown) => swallowed.push(error));
    const error = await caughtError(() => unitOfWork(work, { isolationLevel }));
    expect(error).to.have.property('message').that.includes('savepoint');
    expect(swallowed).to.have.length(1);
    expect(await names()).to.deep.equal(['first']);
  });

  it('writes nothing where it cannot begin, whatever is under way meanwhile', async () => {
    const isolationLevel = 'NO SUCH LEVEL' as Transaction.ISOLATION_LEVELS;
    const write = () => [jars.create({ name: 'ours' }), Jar.create({ name: "Sequelize's" })];
    const work = () => Promise.allSettled([...write(), ...write(), ...write()]);
    await caughtError(() => unitOfWork(work, { isolationLevel }));
    expect(await names()).to.deep.equal(['first']);
  });

  for (const [what, level, prepare] of [
    ['cannot begin', 'NO SUCH LEVEL', async () => {}],
    ['has to begin anew', undefined, () => site.engine.sequelize.query('DEALLOCATE ALL')],
  ] as const) {
    it(`writes nothing by hand behind a first statement that ${what}`, async () => {
      await unitOfWork(() => jars.get(1));
      await prepare();
      const options = level ? { isolationLevel: level as Transaction.ISOLATION_LEVELS } : {};
      await caughtError(() =>
        unitOfWork(async ({ transaction }) => {
          const begun = once(sent, 'statement');
          const first = jars.get(1);
          await begun;
          const { connection } = transaction as object as { connection: Client };
          const byHand = connection.query("INSERT INTO jars (name) VALUES ('by hand')");
          await Promise.allSettled([first, byHand]);
          return fail();
        }, options),
      );
      expect(await names()).to.deep.equal(['first']);
    });
  }

  except({ pgbouncer: 'nothing is prepared' }).it(
    'begins anew where what its connection had prepared is stale',
    async () => {
      await unitOfWork(() => jars.get(1));
      await control.query('ALTER TABLE jars ALTER size TYPE bigint');
      const { result, statements } = await sql.during(() =>
        unitOfWork(async () => {
          const [jar] = await Promise.all([jars.get(1), jars.create({ name: 'second' }), Jar.count()]);
          return jar.size;
        }),
      );
      expect(String(result)).to.equal('1');
      const ends = statements.filter((text) => /^(ROLLBACK|COMMIT);/.test(text));
      expect(ends.map((text) => text.split(' ')[0])).to.deep.equal(['ROLLBACK;', 'COMMIT;']);
      expect(await names()).to.deep.equal(['first', 'second']);
    },
  );

  it('keeps what it has written where a later statement was prepared before its table changed', async () => {
    await unitOfWork(() => jars.get(1));
    await control.query('ALTER TABLE jars ALTER size TYPE bigint');
    await unitOfWork(async () => {
      await jars.create({ name: 'second' });
      expect((await jars.get(1)).name).to.equal('first');
    });
    expect(await names()).to.deep.equal(['first', 'second']);
  });

  it('has the level of isolation that is asked for, and a read session refuses to write', async () => {
    const isolationLevel = Transaction.ISOLATION_LEVELS.SERIALIZABLE;
    const level = (transaction: Transaction) => ask('SHOW transaction_isolation', transaction);
    const serializable = await unitOfWork(({ transaction }) => level(transaction), { isolationLevel });
    expect(serializable).to.deep.equal([{ transaction_isolation: 'serializable' }]);
    await dbSession(async ({ transaction }) => {
      expect(await level(transaction)).to.deep.equal([{ transaction_isolation: 'repeatable read' }]);
      const error = await caughtError(() => jars.create({ name: 'refused' }));
      expect(error).to.have.nested.property('parent.code', '25006');
    });
  });

  it("tells a failure by Sequelize's own classes", async () => {
    const told = ({ message, fields, errors }: UniqueConstraintError) => {
      const items = errors.map((each) => [each.message, each.type, each.path, each.value, each.validatorKey]);
      return { message, fields, items };
    };
    const write = () => jars.create({ name: 'first' });
    const expected = await caughtError(() => Jar.create({ name: 'first' }));
    for (const work of [write, () => unitOfWork(write)]) {
      const error = (await caughtError(work)) as UniqueConstraintError;
      expect(error).to.be.instanceOf(UniqueConstraintError);
      expect(told(error)).to.deep.equal(told(expected as UniqueConstraintError));
      expect(error.errors[0]?.instance).to.be.instanceOf(Jar);
    }
  });
});
