/** A model class has one database: nothing takes it from an engine in use, and no application serves rows of another. */
// @runs fast

import { expect } from 'chai';
import { HasMany, Sequelize, Table } from 'sequelize-typescript';
import {
  ConfigError,
  Crud,
  configureEngine,
  crudRouter,
  type Engine,
  engineLifespan,
} from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { Coin } from '../../support/coin.js';
import { UNGUARDED } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { expectProblem } from '../../support/expect-answer.js';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';

const ADVICE =
  'a model class has one database: list in the models of each engine only its own, declare a class for each database, ' +
  'or dispose the other engine first.';
const TAKEN = `Coin belongs to an engine in use, and another would take it over; ${ADVICE}`;

@Crud({ subresources: { coins: UNGUARDED } })
@Table({ tableName: 'purses', timestamps: false })
class Purse extends KeyedRow {
  @HasMany(() => Coin, { foreignKey: 'id', constraints: false }) declare coins?: Coin[];
}

describe('the engine of a model', () => {
  const first = forSuite(() => freshDatabase('first'));
  const second = forSuite(() => freshDatabase('second'));

  const connect = (database: TestDatabase): Promise<Engine> =>
    engineLifespan(database.url, { models: [Coin], createAll: true })();
  const plain = ({ url }: TestDatabase) => new Sequelize(url, { logging: false, models: [Coin] });
  /** An instance that takes the model over, until the end of a test. */
  const steal = () => {
    const thief = plain(second);
    return Object.assign(thief, { [Symbol.asyncDispose]: () => thief.close() });
  };

  it('is not taken over by a second engine', async () => {
    await using one = await connect(first);
    const { agent } = await buildApp({ models: [Coin] });
    expect(await configProblems(() => connect(second))).to.deep.equal([TAKEN]);
    expect(Coin.sequelize).to.equal(one.sequelize);
    expect((await agent.post('/coins').send({})).status).to.equal(201);
  });

  it('is not taken over by one that starts at the same time', async () => {
    const [one, two] = await Promise.allSettled([connect(first), connect(second)]);
    if (one.status !== 'fulfilled' || two.status !== 'rejected') expect.fail('both have started');
    expect(two.reason).to.be.instanceOf(ConfigError).with.property('message', TAKEN);
    expect(Coin.sequelize).to.equal(one.value.sequelize);
    await one.value[Symbol.asyncDispose]();
  });

  it('is not taken over by one that loads its models from files', async () => {
    await using one = await connect(first);
    const models = [require.resolve('../../support/coin.js')];
    const modelMatch = (_file: string, member: string) => member === 'Coin';
    expect(await configProblems(engineLifespan(second.url, { models, modelMatch }))).to.deep.equal([TAKEN]);
    expect(Coin.sequelize).to.equal(one.sequelize);
  });

  it('may be another when the first is disposed', async () => {
    await using one = await connect(first);
    const { agent } = await buildApp({ models: [Coin] });
    await one[Symbol.asyncDispose]();
    await using two = await connect(second);
    expect(Coin.sequelize).to.equal(two.sequelize);
    const before = await Coin.count();
    expect((await agent.post('/coins').send({})).status).to.equal(201);
    expect(await Coin.count()).to.equal(before + 1);
  });

  for (const fastPath of [true, false]) {
    it(`is asked for each request, so that no row of another database is served: fastPath ${fastPath}`, async () => {
      await using _one = await connect(first);
      const logger = new CapturedLog();
      const { agent } = await buildApp({ models: [Coin], fastPath, logger });
      await using thief = steal();
      await thief.sync({ force: true });
      for (const request of [agent.post('/coins').send({}), agent.get('/coins'), agent.delete('/coins/1')])
        expectProblem(await request, 500, { detail: 'Internal Server Error' });
      expect(await Coin.count()).to.equal(0);
      expect(logger.text).to.include('another instance has taken it over since');
    });
  }

  it('is asked of both models of a sub-resource', async () => {
    await using _one = await engineLifespan(first.url, { models: [Coin, Purse], createAll: true })();
    await Purse.create({ id: 1 });
    const { agent } = await buildApp({ models: [Coin, Purse], logger: new CapturedLog() });
    expect((await agent.get('/purses/1/coins')).status).to.equal(200);
    await using thief = steal();
    await thief.sync({ force: true });
    expect((await agent.get('/purses/1')).status).to.equal(200);
    expect((await agent.get('/purses/1/coins')).status).to.equal(500);
  });

  it('is told where another Sequelize instance has taken it over', async () => {
    await using one = await connect(first);
    await using thief = steal();
    const lost = `Coin belongs to an engine in use, and another instance has taken it over since; ${ADVICE}`;
    expect(await configProblems(() => buildApp({ models: [Coin] }))).to.deep.equal([lost]);
    expect(await configProblems(() => crudRouter(Coin))).to.deep.equal([lost]);
    expect(await configProblems(() => configureEngine({ sequelize: thief }))).to.deep.equal([TAKEN]);
    expect(await configProblems(() => configureEngine({ sequelize: one.sequelize }))).to.deep.equal([
      `Coin was given to this Sequelize instance, and another instance has taken it over since; ${ADVICE}`,
    ]);
  });

  it('may be another when the instance of the user was closed', async () => {
    const own = plain(first);
    await using _one = configureEngine({ sequelize: own });
    await own.close();
    await using two = await connect(second);
    expect(Coin.sequelize).to.equal(two.sequelize);
    const { agent } = await buildApp({ models: [Coin] });
    expect((await agent.get('/coins')).status).to.equal(200);
  });

  it('is told where it is of the user, and is still open', async () => {
    const own = plain(first);
    await using thief = steal();
    own.addModels([Coin]);
    const { agent } = await buildApp({ models: [Coin], logger: new CapturedLog() });
    thief.addModels([Coin]);
    expect((await agent.get('/coins')).status).to.equal(500);
    await own.close();
    await thief.sync();
    expect((await agent.get('/coins')).status).to.equal(200);
  });
});
