/** Erasure: stored values that people want to have forgotten, without a right to change what is stored. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController, NotFoundError, Repository, unitOfWork } from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  can: { history: true, deleted: true },
  history: { onPurge: 'erase' },
  endpoints: ['list', 'read', 'update', 'delete', 'restore', 'purge', 'history', 'revert'],
})
@Table({ tableName: 'patients', paranoid: true, createdAt: false, updatedAt: false })
class Patient extends NumberedRow {
  @Column(DataType.TEXT) declare name: string | null;
  @Column({ type: DataType.INTEGER, field: 'room no' }) declare room: number | null;
}

@Crud({ id: 'slug', history: { renamed: { remark: 'note' } } })
@Table({ tableName: 'wards', timestamps: false })
class Ward extends KeyedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare slug: string;
  @Column(DataType.TEXT) declare note: string | null;
}

/** A stored change. */
interface Stored {
  readonly op: string;
  readonly old: object | null;
  readonly new: object | null;
  readonly left_out: string[] | null;
  readonly context: { readonly actor?: string | null } | null;
}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the erasure of a history', () => {
  const site = serveTestApp(() => ({ models: [Patient, Ward], bootstrap: { indexAdvice: false } }));
  const sql = (text: string) => site.engine.sequelize.query(text);
  const stored = (source = 'patients') =>
    site.engine.sequelize.query<Stored>(
      `SELECT op, old, new, left_out, context FROM crud_changes WHERE source = '${source}' ORDER BY id`,
      { type: QueryTypes.SELECT },
    );
  const patients = new Repository(Patient);

  beforeEach(async () => {
    await emptyTables(site, 'patients', 'wards', 'crud_changes');
    await sql(
      `INSERT INTO patients VALUES (1, 'Ann', 3, NULL), (2, 'Bea', 4, NULL); UPDATE patients SET name = 'x' WHERE id = 1`,
    );
  });

  it('removes the values of some attributes, and says so', async () => {
    const erased = await unitOfWork(() => patients.eraseHistory(1, ['name', 'room']));
    expect(erased).to.equal(2);
    const [first, , second, last] = await stored();
    expect(first?.new).to.deep.equal({ id: 1, deletedAt: null });
    expect(JSON.stringify([first, second])).to.not.match(/Ann|"x"/);
    expect(last).to.deep.include({ op: 'e', old: null, new: null, left_out: ['name', 'room no'] });
    expect(JSON.stringify(await stored())).to.include('Bea');
    const { body } = await site.agent.get('/patients/1/history');
    expect(body.items).to.have.length(1);
    expect(body.items[0].changed).to.deep.equal(['id', 'deletedAt']);
  });

  it('removes all values of a record that is gone, and keeps that there were changes', async () => {
    await sql('ALTER TABLE patients DISABLE TRIGGER crud_capture_erase; DELETE FROM patients WHERE id = 1');
    await sql('ALTER TABLE patients ENABLE TRIGGER crud_capture_erase');
    expect(await patients.eraseHistory(1)).to.equal(3);
    expect((await stored()).filter(({ op }) => op !== 'i')).to.deep.include.members([
      { op: 'u', old: {}, new: {}, left_out: null, context: null },
      { op: 'd', old: {}, new: null, left_out: null, context: null },
    ]);
    const { body } = await site.agent.get('/patients/1/history');
    expect(body.items).to.deep.equal([]);
  });

  it('is undone with the transaction of the running code', async () => {
    const failed = unitOfWork(async () => {
      await patients.eraseHistory(1);
      throw new Error('no');
    });
    expect(String(await caughtError(() => failed))).to.equal('Error: no');
    expect(JSON.stringify(await stored())).to.include('Ann');
  });

  it('comes with a purge, whoever does it', async () => {
    await site.agent.delete('/patients/1');
    expect((await site.agent.delete('/patients/1/purge')).status).to.equal(204);
    await sql('DELETE FROM patients WHERE id = 2');
    const all = await stored();
    expect(JSON.stringify(all)).to.not.match(/Ann|Bea|"x"/);
    expect(all.map(({ op }) => op).join('')).to.match(/^iiuu(de|ed){2}$/);
  });

  it('leaves a state that a revert names as lost', async () => {
    await patients.eraseHistory(1, ['name']);
    const { body } = await site.agent.get('/patients/1/history');
    await sql('UPDATE patients SET "room no" = 9');
    const reverted = await site.agent.post('/patients/1/revert').send({ to: body.items.at(-1).id });
    expect(reverted.body).to.deep.include({ room: 3, name: 'x', skipped: ['name'] });
  });

  it('finds a record by its address', async () => {
    await sql(`INSERT INTO wards (id, slug, note) VALUES (7, 'east', 'secret')`);
    const wards = new Repository(Ward).addressedBy('slug');
    expect(await wards.eraseHistory('east', ['note'])).to.equal(1);
    expect(JSON.stringify(await stored('wards'))).to.not.include('secret');
    const error = await caughtError(() => wards.eraseHistory('west'));
    expect(error).to.be.instanceOf(NotFoundError);
  });

  it('removes the values of a column that had another name', async () => {
    await sql(`INSERT INTO wards (id, slug, note) VALUES (7, 'east', 'x')`);
    await sql(`UPDATE crud_changes SET new = new - 'note' || '{"remark": "secret"}' WHERE source = 'wards'`);
    await new Repository(Ward).addressedBy('slug').eraseHistory('east', ['note']);
    expect(JSON.stringify(await stored('wards'))).to.not.include('secret');
  });

  it('needs the former names of columns in @Crud of the model, where it finds them', async () => {
    class Wards extends crudController(Ward, { history: { renamed: { remark: 'note', hint: 'note' } } }) {}
    const start = () => buildApp({ models: [], controllers: [Wards], logger: new CapturedLog() });
    expect(await configProblems(start)).to.deep.equal([
      'Ward: history.renamed is another one than in @Crud of the model, and is a fact of its table; write it there alone.',
    ]);
  });

  it('of no attributes stores nothing', async () => {
    const before = await stored();
    expect(await patients.eraseHistory(1, [])).to.equal(0);
    expect(await stored()).to.deep.equal(before);
  });

  it('refuses an attribute that is none', async () => {
    const error = await caughtError(() => patients.eraseHistory(1, ['nam' as 'name']));
    expect(String(error)).to.equal("TypeError: Patient has no attribute 'nam'.");
  });

  it('puts a substitute in the place of an actor', async () => {
    await sql(`UPDATE crud_changes SET context = '{"actor": "42", "operation": "x"}' WHERE op = 'i'`);
    expect(await patients.eraseActor('42', 'gone')).to.equal(2);
    const [first, , , ...others] = await stored();
    expect(first?.context).to.deep.equal({ actor: 'gone', operation: 'x' });
    expect(others).to.deep.equal([]);
    expect(await stored('')).to.have.length(1);
    expect(await patients.eraseActor('42')).to.equal(0);
  });

  it('is a right of its own, which a login without it has not', async () => {
    await sql('CREATE ROLE hist_reader; GRANT SELECT ON crud_changes, patients TO hist_reader');
    const run = (text: string) =>
      caughtError(() => sql(`SET ROLE hist_reader; ${text}`)).finally(() =>
        sql('RESET ROLE').catch(() => {}),
      );
    try {
      for (const text of [
        `SELECT crud_erase_1('patients', '1', NULL)`,
        `SELECT crud_erase_actor_1('42', NULL)`,
        `UPDATE crud_changes SET old = NULL`,
      ])
        expect(String(await run(text))).to.match(/permission denied/);
    } finally {
      await sql('RESET ROLE; DROP OWNED BY hist_reader; DROP ROLE hist_reader');
    }
  });
});
