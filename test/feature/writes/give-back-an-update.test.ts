/** On the general path an UPDATE gives the row back itself, wherever that is the row that a query would find. */
// @runs fast
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, DefaultScope, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { emptyTables } from '../../support/empty-tables.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Row extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

@Crud({ prefix: '/plain' })
@Table({ tableName: 'plain', timestamps: false })
class Plain extends Row {
  @Column({ type: DataType.DECIMAL(10, 4), field: 'the price' }) declare price: string | null;
  @Column(DataType.DATE) declare moment: Date | null;
  @Column(DataType.CHAR(3)) declare code: string | null;
  @Column(DataType.JSON) declare json: unknown;

  /** What clients may write, and nobody stores. */
  @Column({
    type: DataType.VIRTUAL(DataType.STRING(20)),
    set(this: Plain, value: string) {
      this.setDataValue('note' as never, value as never);
      this.setDataValue('name', value.toUpperCase());
    },
  })
  declare note: string;
}

@Crud({ prefix: '/swapped' })
@Table({ tableName: 'swapped', timestamps: false })
class Swapped extends Row {
  @Column({ type: DataType.TEXT, field: 'right' }) declare left: string | null;
  @Column({ type: DataType.TEXT, field: 'left' }) declare right: string | null;
}

@Crud({ prefix: '/dollars' })
@Table({ tableName: 'dollars', timestamps: false })
class Dollars extends Row {
  @Column({ type: DataType.TEXT, field: '$name' }) declare other: string | null;
}

@Crud({ prefix: '/marked' })
@Table({ tableName: 'marked', timestamps: false })
class Marked extends Row {
  @Column({ type: DataType.TEXT, field: 'mark' }) declare tableoid: string | null;
}

@Crud({ prefix: '/scoped' })
@DefaultScope(() => ({ where: { name: 'shown' } }))
@Table({ tableName: 'scoped', timestamps: false })
class Scoped extends Row {}

@Crud({ prefix: '/soft' })
@Table({ tableName: 'soft', timestamps: false, paranoid: true, deletedAt: 'ended' })
class Soft extends Row {
  @Column(DataType.DATE) declare ended: Date | null;
}

@Crud({ prefix: '/counted' })
@Table({ tableName: 'counted', timestamps: false, version: true })
class Counted extends Row {}

@Crud({ prefix: '/triggered' })
@Table({ tableName: 'triggered', timestamps: false })
class Triggered extends Row {}

@Crud({ prefix: '/cascading' })
@Table({ tableName: 'cascading', timestamps: false })
class Cascading extends Row {
  @Column(DataType.TEXT) declare code: string | null;
  @Column(DataType.TEXT) declare parent: string | null;
}

const MODELS = [Plain, Swapped, Dollars, Marked, Scoped, Soft, Counted, Triggered, Cascading];

describe('an update on the general path', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: MODELS,
    engine: { logging: sql.record },
    bootstrap: { fastPath: false },
    // One deletes what the other one is about to write.
    minPool: 2,
  }));

  const query = (text: string) => site.engine.sequelize.query(text);

  before(async () => {
    await query('ALTER TABLE cascading ADD UNIQUE (code)');
    await query(
      'ALTER TABLE cascading ADD FOREIGN KEY (parent) REFERENCES cascading (code) ON UPDATE CASCADE',
    );
  });

  beforeEach(async () => {
    await emptyTables(site, ...MODELS.map((model) => String(model.getTableName())));
    for (const { tableName } of MODELS) await query(`INSERT INTO ${tableName} (name) VALUES ('shown')`);
    await query('UPDATE counted SET version = 0');
  });

  /** The record that a change gives, that a query finds afterwards, and what was sent for the change. */
  async function change(path: string, body: object, status = 200) {
    // What is asked of a table once is not of interest.
    await site.agent.patch(path).send({});
    const { result, statements } = await sql.duringRequest(() => site.agent.patch(path).send(body));
    const verbs = statements.map((text) => text.split(' ')[0]);
    expect(result.status, result.text).to.equal(status);
    const found = await site.agent.get(path);
    return { given: result.body, found: found.body, verbs };
  }

  /** Expects a change to be read back in its transaction, and the answer to be right. */
  async function expectReadBack(path: string, body: object): Promise<void> {
    const { given, found, verbs } = await change(path, body);
    expect(given).to.deep.equal(found);
    expect(verbs).to.deep.equal(['START', 'SELECT', 'UPDATE', 'SELECT', 'COMMIT;']);
  }

  it('takes two statements, and gives what a query would find', async () => {
    const body = {
      name: 'new',
      price: '1.5',
      moment: '2026-01-31T10:00:00.5+02:00',
      code: 'a',
      json: { a: [1] },
    };
    const { given, found, verbs } = await change('/plain/1', body);
    expect(given).to.deep.equal(found);
    expect(given).to.deep.equal({
      id: 1,
      ...body,
      price: '1.5000',
      moment: '2026-01-31T08:00:00.500Z',
      code: 'a  ',
    });
    expect(verbs).to.deep.equal(['SELECT', 'UPDATE']);
  });

  it('keeps nothing of what was not stored', async () => {
    const { given, found } = await change('/plain/1', { note: 'quiet' });
    expect(given).to.deep.equal(found).and.include({ name: 'QUIET' });
  });

  it('is what was read where there was nothing to write', async () => {
    const { given, found, verbs } = await change('/plain/1', { name: 'shown' });
    expect(given).to.deep.equal(found);
    expect(verbs).to.deep.equal(['SELECT']);
  });

  it('is read back where names of columns could be mistaken', async () => {
    await expectReadBack('/swapped/1', { left: 'l' });
    await expectReadBack('/dollars/1', { name: 'new' });
    await expectReadBack('/marked/1', { name: 'new' });
  });

  it('takes two statements for a version, and where rows are soft-deleted', async () => {
    for (const path of ['/counted/1', '/soft/1']) {
      const { given, found, verbs } = await change(path, { name: 'new' });
      expect(given).to.deep.equal(found).and.include({ name: 'new' });
      expect(verbs).to.deep.equal(['SELECT', 'UPDATE']);
    }
  });

  it('answers 404 where the row leaves the scope', async () => {
    await change('/scoped/1', { name: 'hidden' }, 404);
    expect(await Scoped.unscoped().count({ where: { name: 'hidden' } })).to.equal(0);
  });

  it('shows what a hook has written afterwards', async () => {
    Plain.addHook('afterUpdate', 'write', async () => void (await query("UPDATE plain SET code = 'xyz'")));
    try {
      const { given, found } = await change('/plain/1', { name: 'new' });
      expect(given).to.deep.equal(found).and.include({ code: 'xyz' });
    } finally {
      Plain.removeHook('afterUpdate', 'write');
    }
  });

  it('shows what a foreign key of the same table has written afterwards', async () => {
    await Cascading.update({ code: 'a', parent: 'a' }, { where: {} });
    const { given, found } = await change('/cascading/1', { code: 'b' });
    expect(given).to.deep.equal(found).and.include({ code: 'b', parent: 'b' });
  });

  it('shows what a trigger has made of the values, or that it has refused them', async () => {
    await query(`
      CREATE FUNCTION shape() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
        IF NEW.name = 'refused' THEN RETURN NULL; END IF;
        NEW.name := upper(NEW.name);
        RETURN NEW;
      END $f$`);
    await query('CREATE TRIGGER shaping BEFORE UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION shape()');
    const shaped = await change('/triggered/1', { name: 'new' });
    expect(shaped.given).to.deep.equal(shaped.found).and.include({ name: 'NEW' });
    // What the trigger does besides is undone with a row that it leaves out.
    expect(shaped.verbs).to.deep.equal(['START', 'SELECT', 'UPDATE', 'COMMIT;']);
    const refused = await change('/triggered/1', { name: 'refused' }, 409);
    expect(refused.given).to.deep.equal({
      detail: 'The database did not store the record, and nothing was done.',
    });
    expect(refused.found).to.include({ name: 'NEW' });
  });

  it('answers 404 where the row goes away before it is written', async () => {
    const { sequelize } = site.engine;
    const transaction = await sequelize.transaction();
    await sequelize.query('DELETE FROM plain', { transaction });
    const answer = site.agent
      .patch('/plain/1')
      .send({ name: 'new' })
      .then((response) => response);
    while ((await waiting()) === 0) await sleep(2);
    await transaction.commit();
    expect((await answer).status).to.equal(404);
  });

  /** How many statements wait for a lock. */
  async function waiting(): Promise<number> {
    const text =
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    return (await site.engine.sequelize.query(text, { type: QueryTypes.SELECT })).length;
  }
});
