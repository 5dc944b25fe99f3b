/** `POST /many`, the path of creates of many records: it answers arrays as `POST /` does, and leaves records with this id theirs. */
import { expect } from 'chai';
import { JsonController, Post } from 'routing-controllers';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { type BootstrapOptions, Crud, crudController, crudRouter } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { except, OF_MANY } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNoMethod, expectNothing } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['list', 'read', 'create', 'update', 'delete', 'createMany'], bulk: { max: 3 } })
@Table({ tableName: 'seeds', timestamps: false })
class Seed extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare code: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare size: number;
}

except(OF_MANY).describe('the path for creates of many', () => {
  const site = serveTestApp(() => ({
    models: [Seed],
    bootstrap: { idempotency: { principal: () => 'ann' } },
    minPool: 2,
  }));

  beforeEach(() => emptyTables(site, 'seeds', 'crud_idempotency'));

  const [a, b] = [
    { code: 'a', size: 1 },
    { code: 'b', size: 2 },
  ];
  for (const [what, query, body, headers] of [
    ['an array', '', [b, a], {}],
    ['one record of many that is refused', '', [a, { code: 'b' }, { size: 'x' }], {}],
    ['equal keys', '', [a, b, a], {}],
    ['records on their own', '?atomic=false', [a, { code: 'b' }, b], {}],
    ['a dry run', '?dry_run=true', [a, b], {}],
    ['no record', '', [], {}],
    ['too many', '', [a, a, a, a], {}],
    ['an unknown parameter', '?fields=code', [a], {}],
    ['a preference', '', [a], { prefer: 'return=minimal' }],
    ['a condition', '', [a], { 'if-match': '"1"' }],
    ['a key', '', [a], { 'idempotency-key': 'k' }],
    ['another media type', '', '<a/>', { 'content-type': 'application/xml' }],
  ] as const) {
    it(`answers ${what} as the path of a single record does`, async () => {
      const answers = [];
      for (const path of ['/seeds/many', '/seeds', '/SEEDS/Many/']) {
        await emptyTables(site, 'seeds', 'crud_idempotency');
        const answer = await site.agent
          .post(path + query)
          .set(headers)
          .send(body as object);
        const { date: _, 'keep-alive': _alive, ...others } = answer.headers;
        const rows = await Seed.findAll({ order: ['code'], raw: true });
        answers.push({ status: answer.status, text: answer.text, headers: others, rows });
      }
      expect(answers[0]).to.deep.equal(answers[1]);
      expect(answers[2]).to.deep.equal(answers[1]);
    });
  }

  it('takes arrays only', async () => {
    const detail = 'The body must be a JSON array.';
    expectIssue(await site.agent.post('/seeds/many').send(a), 422, { pointer: '', code: 'isArray', detail });
    expect(await Seed.count()).to.equal(0);
  });

  it('is another request than that at the path of a single record, to a key', async () => {
    const send = (path: string) => site.agent.post(path).set('idempotency-key', 'k').send([a]);
    expect((await send('/seeds/many')).status).to.equal(201);
    expect((await send('/seeds')).status).to.equal(422);
    expect(await Seed.count()).to.equal(1);
  });

  it('leaves the other methods to the record with this id', async () => {
    const many = { code: 'many', size: 3 };
    const { headers } = await site.agent.post('/seeds').send(many);
    expect(headers['location']).to.equal('/seeds/many');
    expectJson(await site.agent.get('/seeds/many'), 200, many);
    expectJson(await site.agent.patch('/seeds/many').send({ size: 4 }), 200, { ...many, size: 4 });
    const allow = 'POST, GET, HEAD, PATCH, DELETE, OPTIONS';
    const options = await site.agent.options('/seeds/many');
    expectNothing(options, 204);
    expect(options.headers['allow']).to.equal(allow);
    const other = await site.agent.put('/seeds/many').send(many);
    expectNoMethod(other, 'PUT', allow);
    const items = 'GET, HEAD, PATCH, DELETE, OPTIONS';
    const refused = await site.agent.post('/seeds/other').send([a]);
    expectNoMethod(refused, 'POST', items);
    expectNothing(await site.agent.delete('/seeds/many'), 204);
  });

  it('is there below a router, and where the application tells cases and slashes apart', async () => {
    const { agent } = await buildApp({ models: [Seed], docs: false, health: false }, (app) => {
      app.enable('case sensitive routing');
      app.enable('strict routing');
      app.use('/below', crudRouter(Seed));
    });
    for (const [path, status] of [
      ['/seeds/many', 201],
      ['/seeds/Many', 405],
      ['/seeds/many/', 404],
      ['/below/many', 201],
      ['/below/Many', 404],
    ] as const) {
      await emptyTables(site, 'seeds');
      expect((await agent.post(path).send([a])).status, path).to.equal(status);
    }
  });

  describe('refuses a route of the application in its place', () => {
    class Literal extends crudController(Seed) {
      @Post('/many') own() {
        return {};
      }
    }
    class Wide extends crudController(Seed) {
      @Post('/:code') own() {
        return {};
      }
    }
    @JsonController('/seeds')
    class HandWritten {
      @Post('/many') own() {
        return {};
      }
    }
    const both = "Seed: 'own' and 'bulk.createMany' both answer POST /seeds/many; give one another path.";
    const cases: readonly [string, BootstrapOptions, string][] = [
      ['at the same path', { controllers: [Literal], models: [Seed] }, both],
      ['at a wider one', { controllers: [Wide], models: [Seed] }, both],
      [
        'in a controller of its own',
        { models: [Seed], controllers: [HandWritten] },
        'HandWritten.own would never be reached: Seed.bulk.createMany answers POST /seeds/many, too; ' +
          "leave 'createMany' out of the endpoints of Seed, or give one of them another path.",
      ],
    ];
    for (const [where, options, message] of cases)
      it(where, async () => {
        expect(await configProblems(() => buildApp(options))).to.deep.equal([message]);
      });
  });
});
