/** `fields`: a client names the properties that it needs. */
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../src/index.js';
import { CapturedLog } from '../support/captured-log.js';
import { expectIssue, expectJson, expectProblem } from '../support/expect-answer.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

abstract class Place extends Model {
  @PrimaryKey
  @AutoIncrement
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare name: string;

  @Column(DataType.BIGINT)
  declare population: string | null;
}

@Crud({ filterAllow: ['population'], sortAllow: ['population'] } as object)
@Table({ tableName: 'towns', timestamps: false })
class Town extends Place {
  @Exclude()
  @Column(DataType.TEXT)
  declare secret: string | null;
}

class Shown {
  @Expose() id = 0;
  @Expose({ name: 'title' }) name = '';
  @Expose() @Transform(({ obj }) => `${obj.name}!`) greeting = '';
}

@Crud({ readSchema: Shown, pagination: 'cursor' })
@Table({ tableName: 'villages', timestamps: false })
class Village extends Place {}

describe('choosing fields', () => {
  let site: TestApp;

  before(async () => {
    site = await startTestApp({ models: [Town, Village], bootstrap: { logger: new CapturedLog() } });
    await Town.create({ name: 'Lyon', population: '9007199254740993', secret: 'x' });
    await Village.create({ name: 'Vals' });
  });

  after(() => site[Symbol.asyncDispose]());

  it('leaves the others out of every item of a list', async () => {
    expectJson(await site.agent.get('/towns?fields=population,id'), 200, {
      items: [{ id: 1, population: '9007199254740993' }],
      total: 1,
      page: 1,
      size: 20,
      pages: 1,
      has_next: false,
      has_prev: false,
    });
  });

  it('leaves the others out of a record', async () => {
    expectJson(await site.agent.get('/towns/1?fields=name'), 200, { name: 'Lyon' });
  });

  it('has the same order whatever the order of the names', async () => {
    const { text } = await site.agent.get('/towns/1?fields=population,name,id');
    expect(text).to.equal('{"id":1,"name":"Lyon","population":"9007199254740993"}');
  });

  it('goes with a filter and an order by other attributes', async () => {
    const { body } = await site.agent.get('/towns?fields=name&q=population>5&sort=-population');
    expect(body.items).to.deep.equal([{ name: 'Lyon' }]);
  });

  it('goes with the names of a schema of the user’s own', async () => {
    expectJson(await site.agent.get('/villages?fields=title,greeting'), 200, {
      items: [{ title: 'Vals', greeting: 'Vals!' }],
      next_cursor: null,
      prev_cursor: null,
      has_next: false,
      has_prev: false,
    });
    expectJson(await site.agent.get('/villages/1?fields=greeting'), 200, { greeting: 'Vals!' });
  });

  for (const path of ['/towns', '/towns/1']) {
    it(`refuses a name that ${path} does not have`, async () => {
      const detail = "There is no field 'nam'. Did you mean 'name'? The fields are id, name, population.";
      expectProblem(await site.agent.get(`${path}?fields=id,nam`), 400, {
        detail,
        errors: [
          { parameter: 'fields', code: 'fields.unknown', detail, allowed: ['id', 'name', 'population'] },
        ],
      });
    });

    it(`answers on ${path} for a hidden attribute as for none`, async () => {
      const answers = await Promise.all(
        ['secret', 'sxxxxx'].map(async (name) => {
          const { status, text } = await site.agent.get(`${path}?fields=${name}`);
          return [status, text.replaceAll(name, '…')];
        }),
      );
      expect(answers[0]).to.deep.equal(answers[1]);
      expect(answers[0]?.[0]).to.equal(400);
    });

    it(`refuses a name given twice on ${path}`, async () => {
      expectIssue(await site.agent.get(`${path}?fields=id,id`), 400, {
        parameter: 'fields',
        code: 'fields.repeated',
        detail: "'id' may be named once in fields.",
      });
    });
  }

  it('refuses the original name of a renamed property', async () => {
    const detail = "There is no field 'name'. The fields are id, title, greeting.";
    expectProblem(await site.agent.get('/villages/1?fields=name'), 400, {
      detail,
      errors: [{ parameter: 'fields', code: 'fields.unknown', detail, allowed: ['id', 'title', 'greeting'] }],
    });
  });

  it('is no parameter of the other routes', async () => {
    const response = await site.agent.delete('/towns/1?fields=id');
    expectIssue(response, 400, {
      parameter: 'fields',
      code: 'unknown',
      detail: "This route has no parameter 'fields'. It accepts none.",
    });
  });
});
