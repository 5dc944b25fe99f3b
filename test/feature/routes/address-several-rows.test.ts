/** A key of a view, or of a table with heirs, that is unique in the model only. An id of two rows is a conflict, and nothing is written. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import type { Test } from 'supertest';
import { Crud, MultipleResultsFound, Repository } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

/** A view, with all that writes a record by its key. */
@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'delete', 'replace', 'updateMany', 'deleteMany'],
  filterAllow: ['no'],
})
@Table({ tableName: 'folios', timestamps: false })
class Folio extends KeyedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare no: number;
}

/** A table with heirs, whose rows are only marked when they are deleted. */
@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore', 'purge'] })
@Table({ tableName: 'sheets', createdAt: false, updatedAt: false, paranoid: true, deletedAt: 'ended' })
class Sheet extends KeyedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare no: number;
  @Column(DataType.DATE) declare ended: Date | null;
}

const TABLES = `
  CREATE TABLE papers (id int, no int NOT NULL);
  CREATE VIEW folios AS SELECT id, no FROM papers;
  CREATE TABLE sheets (id int PRIMARY KEY, no int NOT NULL, ended timestamptz);
  CREATE TABLE leaves () INHERITS (sheets)`;

except(OF_MANY).describe('an id of two rows', () => {
  const site = serveTestApp(() => ({
    models: [Folio, Sheet],
    engine: { createAll: false },
    bootstrap: { logger: new CapturedLog(), indexAdvice: false },
  }));

  before(async () => {
    await execute(TABLES);
    await buildApp({ models: [Folio, Sheet], logger: new CapturedLog(), indexAdvice: false });
  });

  beforeEach(() =>
    execute(`TRUNCATE papers; TRUNCATE sheets CASCADE; INSERT INTO papers VALUES (7, 1), (7, 2), (8, 3);
      INSERT INTO sheets VALUES (7, 1, NULL), (8, 3, NULL), (9, 4, now()); INSERT INTO leaves VALUES (7, 2, NULL), (9, 5, now())`),
  );

  const execute = (sql: string) => site.engine.sequelize.query(sql);
  const ALL = 'SELECT id, no, NULL AS ended FROM papers UNION ALL SELECT * FROM sheets ORDER BY 1, 2, 3';
  const rows = async () => (await execute(ALL))[0];

  for (const fastPath of [true, false]) {
    describe(`with fastPath ${fastPath}`, () => {
      let agent: BuiltApp['agent'];

      before(async () => {
        const logger = new CapturedLog();
        ({ agent } = await buildApp({ models: [Folio, Sheet], fastPath, logger, indexAdvice: false }));
      });

      const many = [
        { id: 8, no: 9 },
        { id: 7, no: 9 },
      ];
      const refused: Readonly<Record<string, () => Test>> = {
        'GET of a view': () => agent.get('/folios/7'),
        'PATCH of a view': () => agent.patch('/folios/7').send({ no: 9 }),
        'an empty PATCH of a view': () => agent.patch('/folios/7').send({}),
        'PUT of a view': () => agent.put('/folios/7').send({ no: 9 }),
        'DELETE of a view': () => agent.delete('/folios/7'),
        'PATCH of many of a view': () => agent.patch('/folios').send(many),
        'PATCH by filter of a view': () => agent.patch('/folios?q=no==1').send({ no: 9 }),
        'DELETE by filter of a view': () => agent.delete('/folios?q=no==1'),
        'GET of a table with heirs': () => agent.get('/sheets/7'),
        'PATCH of a table with heirs': () => agent.patch('/sheets/7').send({ no: 9 }),
        'DELETE that marks': () => agent.delete('/sheets/7'),
        restore: () => agent.post('/sheets/9/restore'),
        purge: () => agent.delete('/sheets/9/purge'),
      };
      for (const [name, request] of Object.entries(refused)) {
        it(`refuses ${name}`, async () => {
          const before = await rows();
          const model = name.endsWith('view') ? 'Folio' : 'Sheet';
          const { status, body } = await request();
          expect([status, body.detail]).to.deep.equal([409, `There is more than one ${model} with this id.`]);
          expect(await rows()).to.deep.equal(before);
        });
      }

      it('[P2] reads and writes the records of all other ids', async () => {
        expect((await agent.get('/folios/8')).body).to.deep.equal({ id: 8, no: 3 });
        expect((await agent.patch('/folios/8').send({ no: 4 })).body).to.deep.equal({ id: 8, no: 4 });
        expect((await agent.put('/folios/8').send({ no: 5 })).body).to.deep.equal({ id: 8, no: 5 });
        const items = [{ id: 8, no: 6 }];
        expect((await agent.patch('/folios').send(items)).body).to.deep.equal({ items });
        expect((await agent.patch('/folios?q=no==6').send({ no: 7 })).body).to.deep.equal({ affected: 1 });
        expect((await agent.delete('/folios/8')).status).to.equal(204);
        expectProblem(await agent.delete('/folios/8'), 404, { detail: 'There is no Folio with this id.' });
        expect((await agent.post('/folios').send({ id: 6, no: 1 })).status).to.equal(201);
        expect((await agent.delete('/sheets/8')).status).to.equal(204);
        expect((await agent.post('/sheets/8/restore')).status).to.equal(200);
        expect((await agent.delete('/sheets/8')).status).to.equal(204);
        expect((await agent.delete('/sheets/8/purge')).status).to.equal(204);
      });
    });
  }

  it('is told to code of the user by an error', async () => {
    const folios = new Repository(Folio);
    const before = await rows();
    const find = () => folios.find(7, { fields: ['no'] });
    const update = () => folios.update(7, { no: 9 });
    for (const use of [() => folios.get(7), find, update, () => folios.delete(7)])
      expect(await caughtError(use)).to.be.instanceOf(MultipleResultsFound);
    expect(await rows()).to.deep.equal(before);
  });
});
