/** `fields`: a client names the properties that it needs. */
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { onPath } from '../../support/combination.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
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
  const sql = new SqlLog();
  const site = serveTestApp(() => {
    const bootstrap = { logger: new CapturedLog() };
    return { models: MODELS, bootstrap, engine: { logging: sql.record } };
  });

  before(async () => {
    await Hamlet.bulkCreate([
      { name: 'Ars', population: '7' },
      { name: 'Bez', population: '5' },
    ]);
    await Town.create({ name: 'Lyon', population: '9007199254740993', secret: 'x' });
    await Village.create({ name: 'Vals' });
  });

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

  for (const [path, columns, rest] of [
    ['/towns/1?fields=name', '"name"', 'WHERE "Town"."id" = $1'],
    ['/towns?fields=population,name', '"name", "population"', 'ORDER BY "Town"."id" LIMIT 20'],
    ['/hamlets/1?fields=title', '"name"', 'WHERE "Hamlet"."id" = $1'],
  ] as const) {
    it(`reads no more columns than it needs for ${path}`, async () => {
      const { result, statements } = await sql.duringRequest(() => site.agent.get(path));
      expect(result.status).to.equal(200);
      const [statement = '', ...others] = statements;
      expect(others).to.deep.equal([]);
      const fast = new RegExp(
        `^SELECT ${columns} FROM "(towns|hamlets)" AS "(Town|Hamlet)" ${quoted(rest)}$`,
      );
      // Overrides ask their repository for whole records.
      const whole = /^SELECT "id", "name", "population"/;
      expect(statement).to.match(onPath({ fast, general: whole, session: whole, records: whole }));
    });
  }

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
      expect([status, ...body.errors.map(({ detail }: { detail: string }) => detail)]).to.deep.equal([
        400,
        ...told.map((each) => `There is no field ${each} The fields are id, name, population.`),
      ]);
    }
  });

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

/** A text as a regular expression. */
function quoted(text: string): string {
  return text.replace(/[$.]/g, '\\$&');
}
