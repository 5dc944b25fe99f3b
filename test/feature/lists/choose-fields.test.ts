/** `fields`: a client names the properties that it needs. */
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

abstract class Place extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
  @Column(DataType.BIGINT) declare population: string | null;
}

@Crud({ filterAllow: ['population'], sortAllow: ['population'] } as object)
@Table({ tableName: 'towns', timestamps: false })
class Town extends Place {
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
}

class Shown {
  @Expose() id = 0;
  @Expose({ name: 'title' }) name = '';
  @Expose() @Transform(({ obj }) => `${obj.name}!`) greeting = '';
}

@Crud({ readSchema: Shown, pagination: 'cursor' })
@Table({ tableName: 'villages', timestamps: false })
class Village extends Place {}

class Named {
  @Expose() declare id: number;
  @Expose({ name: 'title' }) declare name: string;
  @Expose() declare population: string;
}

@Crud({ readSchema: Named, sortAllow: ['population'], pagination: 'cursor' } as object)
@Table({ tableName: 'hamlets', timestamps: false })
class Hamlet extends Place {}

const MODELS = [Town, Village, Hamlet];

describe('choosing fields', () => {
  const site = serveTestApp(() => ({ models: MODELS, bootstrap: { logger: new CapturedLog() } }));

  before(async () => {
    await Hamlet.bulkCreate([
      { name: 'Ars', population: '7' },
      { name: 'Bez', population: '5' },
    ]);
    await Town.create({ name: 'Lyon', population: '9007199254740993', secret: 'x' });
    await Village.create({ name: 'Vals' });
  });

  it('leaves the others out of every item of a list', async () =>
    expectJson(await site.agent.get('/towns?fields=population,id'), 200, {
      items: [{ id: 1, population: '9007199254740993' }],
      ...{ total: 1, page: 1, size: 20, pages: 1, has_next: false, has_prev: false },
    }));

  it('leaves the others out of a record, and has the same order whatever the order of the names', async () => {
    expectJson(await site.agent.get('/towns/1?fields=name'), 200, { name: 'Lyon' });
    const { text } = await site.agent.get('/towns/1?fields=population,name,id');
    expect(text).to.equal('{"id":1,"name":"Lyon","population":"9007199254740993"}');
    for (const query of ['fields=population&fields=name,id', 'fields[]=population&fields[]=name&fields[]=id'])
      expect((await site.agent.get(`/towns/1?${query}`)).text, query).to.equal(text);
  });

  it('goes with a filter and an order by other attributes', async () => {
    const { body } = await site.agent.get('/towns?fields=name&q=population>5&sort=-population');
    expect(body.items).to.deep.equal([{ name: 'Lyon' }]);
  });

  it('goes with the names of a schema of the user’s own', async () => {
    expectJson(await site.agent.get('/villages?fields=title,greeting'), 200, {
      items: [{ title: 'Vals', greeting: 'Vals!' }],
      ...{ next_cursor: null, prev_cursor: null, has_next: false, has_prev: false },
    });
    expectJson(await site.agent.get('/villages/1?fields=greeting'), 200, { greeting: 'Vals!' });
  });

  it('goes on from a cursor whose order is of a column that is not answered', async () => {
    const walk = '/hamlets?fields=title&sort=-population&size=1';
    const first = await site.agent.get(walk);
    expect(first.body.items).to.deep.equal([{ title: 'Ars' }]);
    const second = await site.agent.get(`${walk}&after=${first.body.next_cursor}`);
    expect(second.body.items).to.deep.equal([{ title: 'Bez' }]);
    expect([second.body.has_prev, second.body.has_next]).to.deep.equal([true, false]);
    const back = await site.agent.get(`${walk}&before=${second.body.prev_cursor}`);
    expect(back.body).to.deep.equal({ ...first.body, prev_cursor: null });
  });

  for (const [path, name, hint, allowed] of [
    ['/towns', 'nam', " Did you mean 'name'?", ['id', 'name', 'population']],
    ['/towns/1', 'nam', " Did you mean 'name'?", ['id', 'name', 'population']],
    // The original name of a renamed property.
    ['/villages/1', 'name', '', ['id', 'title', 'greeting']],
  ] as const) {
    it(`refuses a name that ${path} does not have`, async () => {
      const detail = `There is no field '${name}'.${hint} The fields are ${allowed.join(', ')}.`;
      const errors = [{ parameter: 'fields', code: 'fields.unknown', detail, allowed }];
      expectProblem(await site.agent.get(`${path}?fields=id,${name}`), 400, { detail, errors });
    });
  }

  for (const path of ['/towns', '/towns/1']) {
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
      const detail = "'id' may be named once in fields.";
      const issue = { parameter: 'fields', code: 'fields.repeated', detail };
      expectIssue(await site.agent.get(`${path}?fields=id,id`), 400, issue);
    });
  }

  it('refuses each name that is none, with the one that may be meant', async () => {
    for (const [text, ...told] of [
      ['', "''."],
      ['name,', "''."],
      [' name', "' name'. Did you mean 'name'?"],
      ['Name', "'Name'. Did you mean 'name'?"],
      ['secret', "'secret'."],
      ['x,y', "'x'.", "'y'."],
      ['__proto__', "'__proto__'."],
    ] as const) {
      const { status, body } = await site.agent.get(`/towns?fields=${encodeURIComponent(text)}`);
      const details = told.map((each) => `There is no field ${each} The fields are id, name, population.`);
      expect(body.errors.map(({ detail }: { detail: string }) => detail)).to.deep.equal(details);
      expect(status).to.equal(400);
    }
  });
});
