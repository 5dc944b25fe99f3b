/** Writes whose changes would not be stored are refused: a history with holes is worse than a pause. */
import { expect } from 'chai';
import { Get, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({ history: true })
@Table({ tableName: 'clocks', timestamps: false })
class Clock extends NamedRow {}

/** Another resource of the table, without a history of its own. */
@Crud()
@Table({ tableName: 'clocks', timestamps: false })
class Watch extends NamedRow {}

@Crud({ history: true })
@Table({ tableName: 'dials', timestamps: false })
class Dial extends NamedRow {
  @Column(DataType.INTEGER) declare clockId: number | null;
}

class ClockController extends crudController(Clock) {
  @Get('/own')
  show(): string {
    return 'time';
  }

  @Post('/own')
  async build(): Promise<Clock> {
    return Clock.create({ name: 'own' });
  }
}

const TRIGGER = 'crud_capture_update';

describe('a table without its triggers', () => {
  const ways: Readonly<Record<string, readonly [away: string, back: string]>> = {
    disabled: [
      `ALTER TABLE clocks DISABLE TRIGGER ${TRIGGER}`,
      `ALTER TABLE clocks ENABLE TRIGGER ${TRIGGER}`,
    ],
    missing: [
      `DROP TRIGGER ${TRIGGER} ON clocks`,
      `CREATE TRIGGER ${TRIGGER} AFTER UPDATE ON clocks REFERENCING OLD TABLE AS "crud:old" NEW TABLE AS "crud:new" ` +
        `FOR EACH STATEMENT EXECUTE FUNCTION crud_capture_2('clocks', '{"id"}', '{}', '')`,
    ],
    older: [
      `CREATE FUNCTION crud_capture_0() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; ` +
        `CREATE OR REPLACE TRIGGER ${TRIGGER} AFTER UPDATE ON clocks FOR EACH STATEMENT EXECUTE FUNCTION crud_capture_0('clocks', '{"id"}', '{}', '')`,
      `CREATE OR REPLACE TRIGGER ${TRIGGER} AFTER UPDATE ON clocks REFERENCING OLD TABLE AS "crud:old" NEW TABLE AS "crud:new" ` +
        `FOR EACH STATEMENT EXECUTE FUNCTION crud_capture_2('clocks', '{"id"}', '{}', '')`,
    ],
  };
  for (const [name, [away, back]] of Object.entries(ways)) {
    it(`takes no writes while one is ${name}`, async () => {
      const logger = new CapturedLog();
      const models = [Clock, Watch, Dial];
      await using site = await startTestApp({
        models,
        bootstrap: { models, logger, controllers: [ClockController] },
      });
      const { sequelize } = site.engine;
      const post = (path: string) => site.agent.post(path).send({ name: 'a' });
      await sequelize.query(away);
      for (let attempt = 0; attempt < 2; attempt += 1) await post('/clocks').expect(503);
      await site.agent.get('/clocks').expect(200);
      await post('/watches').expect(503);
      await post('/clocks/own').expect(503);
      await site.agent.get('/clocks/own').expect(200);
      await post('/dials').expect(201);
      const lines = logger.lines.filter(({ message }) => message.includes('Clock'));
      expect(lines.map(({ level }) => level)).to.deep.equal(['error']);
      expect(lines[0]?.message).to.include('is missing, disabled, or of an older version');
      await sequelize.query(back);
      await post('/clocks').expect(201);
      await site.agent.patch('/clocks/1').send({ name: 'b' }).expect(200);
    });
  }

  it('logs what is missing in short lines, without the text of functions', async () => {
    const logger = new CapturedLog();
    const models = [Clock];
    await using site = await startTestApp({
      models,
      engine: { createAll: false },
      bootstrap: { models, logger },
    });
    await site.agent.post('/clocks').send({ name: 'a' }).expect(503);
    const missing = logger.lines.filter(({ message }) => message.startsWith('there '));
    expect(missing.map(({ message }) => message.split(';')[0])).to.include(
      'there is no table "crud_changes", so that writes of Clock are answered 503',
    );
    for (const { message } of missing) expect(message.length).to.be.lessThan(1_500);
    expect(missing[0]?.message).to.include('npx crud-controllers sql prints it.');
  });
});
