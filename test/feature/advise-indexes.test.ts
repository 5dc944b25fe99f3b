/** At the start, one warning for each order and filter that no index serves, with the index that would. */
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Sequelize, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { buildApp } from '../support/build-app.js';
import { CapturedLog } from '../support/captured-log.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const LIST = { filterAllow: ['state'], sortAllow: ['id', 'made', 'state'], defaultSort: '-made,state' };

@Crud(LIST as object)
@Table({ tableName: 'jobs', timestamps: false })
class Job extends Model {
  @PrimaryKey
  @Column({ type: DataType.INTEGER, field: 'job no' })
  declare id: number;

  @Column({ type: DataType.DATE, allowNull: false, field: 'made_at' })
  declare made: Date;

  @Column({ type: DataType.TEXT })
  declare state: string | null;
}

@Crud({ filterAllow: ['state'] as never })
@Table({ tableName: 'tasks', timestamps: false })
class Task extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.TEXT })
  declare state: string | null;
}

@Crud({
  scope: { hall: () => 1 },
  filterAllow: ['state', 'hall'] as never,
  sortAllow: ['state', 'hall'] as never,
})
@Table({ tableName: 'seats', timestamps: false })
class Seat extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.INTEGER, field: 'hall_id' })
  declare hall: number;

  @Column({ type: DataType.TEXT })
  declare state: string | null;
}

@Crud()
@Table({ tableName: 'lost', timestamps: false })
class Lost extends Model {}

const KEY = '"job no"';
const MADE = `Job: no index serves the order 'made' (sortAllow); CREATE INDEX ON "jobs" ("made_at", ${KEY});`;
const STATE = `Job: no index serves the order 'state' (sortAllow); CREATE INDEX ON "jobs" ("state", ${KEY});`;
const DEFAULT = `Job: no index serves the order '-made,state,id' (defaultSort); CREATE INDEX ON "jobs" ("made_at" DESC, "state", ${KEY});`;

describe('advising indexes', () => {
  let site: TestApp;

  before(async () => {
    site = await startTestApp({ models: [Job, Task, Seat], bootstrap: { logger: new CapturedLog() } });
  });

  after(() => site[Symbol.asyncDispose]());

  /** The advice with only these indexes there, each in the syntax behind `CREATE INDEX`. */
  async function adviceFor(
    model: typeof Job | typeof Task | typeof Seat,
    ...indexes: readonly string[]
  ): Promise<string[]> {
    const { sequelize } = site.engine;
    for (const [number, index] of indexes.entries()) {
      await sequelize.query(`CREATE INDEX advised_${number} ON ${model.tableName} ${index}`);
    }
    const logger = new CapturedLog();
    await buildApp({ models: [model], logger });
    for (const number of indexes.keys()) await sequelize.query(`DROP INDEX advised_${number}`);
    return logger.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }

  const advice = (...indexes: readonly string[]): Promise<string[]> => adviceFor(Job, ...indexes);

  it('names each order and filter once', async () => {
    expect(await advice()).to.have.members([DEFAULT, MADE, STATE]);
  });

  it('advises an index for a filter where none for the order is missing', async () => {
    expect(await advice(`(state, ${KEY})`, '(made_at)')).to.deep.equal([DEFAULT]);
  });

  it('is silent where its own advice was followed', async () => {
    const followed = [DEFAULT, MADE, STATE].map(
      (line) => /CREATE INDEX ON "jobs" (.*);$/.exec(line)?.[1] ?? '',
    );
    expect(await advice(...followed)).to.deep.equal([]);
  });

  it('is silent where an index is walked backward', async () => {
    expect(await advice('(made_at, state DESC)', '(state DESC)')).to.deep.equal([]);
  });

  it('does not take an index of another order', async () => {
    expect(await advice('(made_at, state)', '(state)')).to.deep.equal([DEFAULT]);
    expect(await advice('(made_at DESC, state DESC)', '(state)')).to.deep.equal([DEFAULT]);
    expect(await advice('(state, made_at)', '(made_at)')).to.deep.equal([DEFAULT]);
    expect(await advice('(made_at DESC NULLS LAST, state)', '(state)')).to.have.members([DEFAULT, MADE]);
  });

  it('does not take an index over some rows, an expression, or without an order', async () => {
    const some = ['(made_at) WHERE state IS NOT NULL', '(lower(state))', 'USING hash (state)'];
    expect(await advice(...some)).to.have.members([DEFAULT, MADE, STATE]);
  });

  it('names a filter that only an order by the key goes with', async () => {
    const line = `Task: no index serves a filter by 'state' (filterAllow); CREATE INDEX ON "tasks" ("state", "id");`;
    expect(await adviceFor(Task)).to.deep.equal([line]);
  });

  it('takes any index that begins with the column for a filter', async () => {
    for (const index of ['USING hash (state)', '(state DESC)', '(state, id)', '(state) INCLUDE (id)']) {
      expect(await adviceFor(Task, index), index).to.deep.equal([]);
    }
    for (const index of [
      '(id, state)',
      '(id) INCLUDE (state)',
      "(state) WHERE state <> 'x'",
      '(lower(state))',
    ]) {
      expect(await adviceFor(Task, index), index).to.have.lengthOf(1);
    }
  });

  it('asks for indexes that begin with the columns of a scope', async () => {
    const within = (problem: string, columns: string) =>
      `Seat: no index serves ${problem} within the scope of hall; CREATE INDEX ON "seats" (${columns});`;
    const byState = within("the order 'state' (sortAllow)", '"hall_id", "state", "id"');
    const byHall = within("the order 'hall' (sortAllow)", '"hall_id", "id"');
    expect(await adviceFor(Seat)).to.deep.equal([byState, byHall]);
    expect(await adviceFor(Seat, '(state, hall_id)', '(id, hall_id)')).to.deep.equal([byState, byHall]);
    expect(await adviceFor(Seat, '(hall_id, state)')).to.deep.equal([byHall]);
    expect(await adviceFor(Seat, '(hall_id DESC, state DESC)', '(hall_id, id)')).to.deep.equal([]);
  });

  it('starts without advice where the database cannot be asked', async () => {
    const logger = new CapturedLog();
    const unreachable = new Sequelize('postgres://nobody@127.0.0.1:1/none', {
      models: [Lost],
      logging: false,
    });
    await buildApp({ models: [Lost], logger });
    await unreachable.close();
    expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ['debug', 'The tables and indexes could not be checked: the database did not answer, or refused it.'],
    ]);
  });

  it('has none for the primary key', async () => {
    const lines = await advice();
    expect(lines.filter((line) => line.includes("'id'"))).to.deep.equal([]);
  });
});
