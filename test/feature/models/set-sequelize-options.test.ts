/** Options of Sequelize: the start refuses those that change the results of queries, and all others leave the answers as they are. */
import { expect } from 'chai';
import express from 'express';
import { type Options, Transaction } from 'sequelize';
import { Column, DataType, Model, Sequelize, Table } from 'sequelize-typescript';
import { bootstrap, Crud, crudRouter, engineLifespan, type ModelClass } from '../../../src/index.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configError, configProblems } from '../../support/config-error.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({ sortAllow: ['firstName'] as never, pagination: 'cursor' })
@Table({ tableName: 'odd_people', timestamps: false })
class Person extends Model {
  @Column(DataType.TEXT) declare firstName: string | null;
  @Column(DataType.DATE) declare at: Date | null;
}

const REFUSED = {
  dialect: { dialect: 'mysql' },
  quoteIdentifiers: { quoteIdentifiers: false },
  omitNull: { omitNull: true },
  native: { native: true },
  repositoryMode: { repositoryMode: true },
  validateOnly: { validateOnly: true },
  'query.raw': { query: { raw: true } },
  'query.nest': { query: { nest: true } },
  'query.plain': { query: { plain: true } },
  'dialectOptions.prependSearchPath': { searchPath: 'other', dialectOptions: { prependSearchPath: true } },
};

const HONOURED = {
  'query.logging': { query: { logging: false } },
  searchPath: { searchPath: 'other' },
  minifyAliases: { minifyAliases: true },
  typeValidation: { typeValidation: true },
  timezone: { timezone: '+05:30' },
  keepDefaultTimezone: { keepDefaultTimezone: true },
  standardConformingStrings: { standardConformingStrings: false },
  isolationLevel: { isolationLevel: Transaction.ISOLATION_LEVELS.SERIALIZABLE },
  benchmark: { benchmark: true, logQueryParameters: true },
  retry: { retry: { max: 2 } },
  'define.underscored': { define: { underscored: true } },
};

describe('an option of Sequelize', () => {
  for (const [name, options] of Object.entries(REFUSED)) {
    it(`[U9] is refused by the engine before it connects: ${name}`, async () => {
      const given = { ...(options as object), models: [Person] };
      const message = await configError(engineLifespan('postgres://nobody:x@127.0.0.1:1/none', given));
      expect(message).to.match(new RegExp(`^The option ${name} of Sequelize is .*; leave it out\\.$`));
    });
  }

  it('is refused for an instance of the user, too, and so is rejectOnEmpty of a table', async () => {
    @Crud()
    @Table({ tableName: 'strict', rejectOnEmpty: true } as object)
    class Strict extends Model {}
    const options: Options = { dialect: 'postgres', query: { raw: true } };
    new Sequelize({ ...options, models: [Strict as never] });
    const told = [
      'The option query.raw of Sequelize is true, and changes what every query gives; leave it out.',
      'Strict: the option rejectOnEmpty of its table has queries fail that find nothing; leave it out.',
    ];
    for (const start of [
      () => bootstrap(express(), { models: [Strict as unknown as ModelClass], logger: new CapturedLog() }),
      () => crudRouter(Strict),
    ]) {
      expect(await configProblems(start)).to.deep.equal(told);
    }
  });

  for (const [name, options] of Object.entries({ none: {}, ...HONOURED })) {
    it(`[U9] leaves the answers as they are: ${name}`, async () => {
      const bootstrap = { indexAdvice: false, logger: new CapturedLog() };
      await using site = await startTestApp({ models: [Person], engine: options as object, bootstrap });
      const { agent } = site;
      const first = { id: 1, firstName: "a\\b'c", at: '2026-01-31T08:00:00.123Z' };
      const second = { id: 2, firstName: 'z', at: null };
      const { id: _id, ...body } = first;
      expect((await agent.post('/people').send(body)).body).to.deep.equal(first);
      expect((await agent.post('/people').send({ firstName: 'z' })).body).to.deep.equal(second);
      expect((await agent.get('/people?sort=-firstName')).body.items).to.deep.equal([second, first]);
      expect((await agent.patch('/people/1').send({ at: null })).body).to.deep.equal({ ...first, at: null });
      expect((await agent.delete('/people/2')).status).to.equal(204);
      expect(bootstrap.logger.lines).to.deep.equal([]);
    });
  }
});
