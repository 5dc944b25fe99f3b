/** Names of more than 63 bytes, which PostgreSQL cuts: of tables, columns, indexes and the constraints that it names itself. */
import { expect } from 'chai';
import { Column, DataType, Model, Table, Unique } from 'sequelize-typescript';
import { nameProblems } from '../../../src/describe/describe-model.js';
import { type ConfigError, Crud } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { expectProblem } from '../../support/expect-answer.js';
import { attach } from '../../support/offline-models.js';
import { serveTestApp } from '../../support/test-app.js';

const LONG = 'x'.repeat(70);
/** Of two bytes each: the 63rd byte is the first of one. */
const ACCENTS = 'é'.repeat(40);

@Crud({ sortAllow: ['longest'] as never, filterAllow: ['longest', 'accents'] as never })
@Table({
  tableName: `t${LONG}`,
  timestamps: false,
  indexes: [
    { name: `a${LONG}`, unique: true, fields: ['code'] },
    { name: `b${LONG}`, fields: [LONG, 'id'] },
    { name: `c${LONG}`, fields: [ACCENTS, 'id'] },
  ],
})
class Long extends Model {
  @Unique @Column({ type: DataType.TEXT, field: LONG }) declare longest: string | null;
  @Column({ type: DataType.TEXT, field: ACCENTS }) declare accents: string | null;
  @Column(DataType.TEXT) declare code: string | null;
}

const ROW = { longest: 'L', accents: 'A', code: 'C' };

describe('names that PostgreSQL cuts', () => {
  const site = serveTestApp(() => ({ models: [Long], bootstrap: { logger } }));
  const logger = new CapturedLog();

  it('[P7] are found in the catalogue, with their indexes', async () => {
    expect(logger.lines).to.deep.equal([]);
    await buildApp({ models: [Long], logger });
    expect(logger.lines).to.deep.equal([]);
  });

  it('are those of the rows that are written and read', async () => {
    const { agent } = site;
    expect((await agent.post('/longs').send(ROW)).body).to.deep.equal({ id: 1, ...ROW });
    expect((await agent.get('/longs?q=longest==L;accents==A&sort=longest')).body.items).to.deep.equal([
      { id: 1, ...ROW },
    ]);
    expect((await agent.patch('/longs/1').send({ accents: 'B' })).body).to.deep.equal({
      id: 1,
      ...ROW,
      accents: 'B',
    });
  });

  it('of constraints and indexes name the attributes of a conflict', async () => {
    for (const [name, other] of [
      ['longest', { code: 'other' }],
      ['code', { longest: 'other' }],
    ] as const) {
      const detail = `Another Long has the same ${name}.`;
      expectProblem(await site.agent.post('/longs').send({ ...ROW, ...other }), 409, {
        detail,
        errors: [{ pointer: `/${name}`, code: 'unique', detail }],
      });
    }
  });

  it('are refused for attributes, which Sequelize would not find again', async () => {
    @Crud()
    @Table({ tableName: 'short' })
    class Short extends Model {}
    Column(DataType.TEXT)(Short.prototype, LONG);
    attach(Short);
    const problem =
      `Short.${LONG} has a name of more than 63 bytes, which PostgreSQL cuts where Sequelize reads it back; rename the attribute ` +
      `(its column keeps its name with @Column({ field: '${LONG.slice(0, 63)}' })).`;
    expect(nameProblems(Short)).to.deep.equal([problem]);
    const error = await caughtError(() => buildApp({ models: [Short], logger }));
    expect((error as ConfigError).problems).to.deep.equal([problem]);
  });
});
