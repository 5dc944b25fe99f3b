/** `If-Match` on a resource without entity tags: a write never happens under a condition that cannot be checked. */
import { expect } from 'chai';
import { Authorized, Body, Param, Patch } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import type supertest from 'supertest';
import {
  Crud,
  type CrudContext,
  crudController,
  InjectUnitOfWork,
  type UnitOfWork,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectNothing, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  dependencies: [
    (request, response, next) => void (request.get('x-guest') ? response.status(401).end() : next()),
  ],
})
@Table({ tableName: 'flags', timestamps: false })
class Flag extends NamedRow {}

class Overridden extends crudController(Flag) {
  override async update(id: number, values: object, context: CrudContext) {
    return super.update(id, values, context);
  }

  override async remove(id: number, context: CrudContext) {
    return super.remove(id, context);
  }
}

/** routing-controllers reads what is decorated, and begins the unit of work, before the method. */
class Decorated extends crudController(Flag) {
  override async update(
    @Param('id') id: number,
    @Body() values: object,
    context: CrudContext,
    @InjectUnitOfWork() _uow?: UnitOfWork,
  ) {
    return super.update(id, values, context);
  }

  @Authorized()
  override async remove(@Param('id') id: number, context: CrudContext) {
    return super.remove(id, context);
  }
}

const REFUSED = {
  detail: 'Flag has no entity tags, so If-Match cannot be checked, and nothing was done; leave it out.',
};

describe('sending If-Match to a resource without entity tags', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Flag],
    bootstrap: { models: [] },
    engine: { logging: sql.record },
  }));

  beforeEach(async () => {
    await emptyTables(site, 'flags');
    await Flag.create({ name: 'red' });
  });

  for (const [what, controllers] of [
    ['generated routes', []],
    ['overrides', [Overridden]],
    ['overrides with decorated parameters', [Decorated]],
  ] as const) {
    describe(`on ${what}`, () => {
      let agent: ReturnType<typeof supertest>;

      before(async () => {
        const routing = { authorizationChecker: () => true };
        ({ agent } = await buildApp({ models: [Flag], controllers: [...controllers], routing }));
      });

      for (const tag of ['"1"', 'W/"1"', '"1", "2"', '*', '']) {
        it(`[T14] refuses every write with If-Match: ${tag}, before the body is read and before any query`, async () => {
          const body = '{"name":';
          const { result, statements } = await sql.duringRequest(async () => [
            await agent.patch('/flags/1').set('if-match', tag).type('json').send(body),
            await agent.delete('/flags/1').set('if-match', tag),
            await agent.post('/flags').set('if-match', tag).type('json').send(body),
          ]);
          for (const answer of result) expectProblem(answer, 412, REFUSED);
          expect(statements).to.deep.equal([]);
          expect(await Flag.findAll({ raw: true })).to.deep.equal([{ id: 1, name: 'red' }]);
        });
      }

      it('asks dependencies first, and goes on without the header', async () => {
        expectNothing(await agent.patch('/flags/1').set({ 'if-match': '"1"', 'x-guest': '1' }).send({}), 401);
        expect((await agent.patch('/flags/1').send({ name: 'blue' })).status).to.equal(200);
        expectNothing(await agent.delete('/flags/1'), 204);
      });

      it('reads as without it: a read changes nothing, and its weak tag is none to match', async () => {
        expect((await agent.get('/flags/1').set('if-match', '"1"')).status).to.equal(200);
        expect((await agent.get('/flags').set('if-match', '"1"')).status).to.equal(200);
      });
    });
  }

  it('leaves it to the routes that a subclass adds', async () => {
    class Added extends crudController(Flag) {
      @Patch('/:id/name')
      rename(@Param('id') id: string): object {
        return { id };
      }
    }
    const { agent } = await buildApp({ models: [Flag], controllers: [Added] });
    expect((await agent.patch('/flags/1/name').set('if-match', '"1"')).status).to.equal(200);
  });
});
