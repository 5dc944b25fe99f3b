/** HEAD, OPTIONS, and the methods that a path does not have. */
import { expect } from 'chai';
import { Get, Param, Put } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { NamedRow, NumberedRow } from '../../models/rows.js';
import { expectNothing, expectProblem } from '../../support/expect-answer.js';
import { exchange, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'birds', timestamps: false })
class Bird extends NamedRow {}

@Crud({ endpoints: ['list', 'read'] })
@Table({ tableName: 'nests', timestamps: false })
class Nest extends NumberedRow {}

@Crud()
@Table({ tableName: 'eggs', timestamps: false })
class Egg extends NumberedRow {}

class EggController extends crudController(Egg) {
  @Get('/stats')
  stats(): object {
    return { count: 0 };
  }

  @Put('/:id/warmth')
  warm(@Param('id') id: string): object {
    return { id };
  }
}

const COLLECTION = 'GET, HEAD, POST, OPTIONS';
const ITEM = 'GET, HEAD, PATCH, DELETE, OPTIONS';

describe('using another method', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Bird, Nest, Egg],
    engine: { logging: sql.record },
    bootstrap: { controllers: [EggController] },
  }));

  before(() => Bird.create({ name: 'wren' }));

  describe('HEAD', () => {
    for (const path of ['/birds', '/birds/1', '/birds/99', '/birds/x', '/birds?size=0']) {
      it(`[A18] answers ${path} as GET does, without the body`, async () => {
        const get = await site.agent.get(path);
        const head = await site.agent.head(path);
        expect(head.status).to.equal(get.status);
        expect(head.text ?? '').to.equal('');
        const headers = (from: typeof get) => ({ ...from.headers, date: undefined });
        expect(headers(head)).to.deep.equal(headers(get));
        expect(Number(head.headers['content-length'])).to.be.above(0);
      });
    }

    it('sends no byte of the body over the wire', async () => {
      const answer = await exchange(site.server, requestHead('HEAD /birds', { Connection: 'close' }));
      expect(answer.status).to.equal(200);
      expect(answer.body).to.equal('');
    });
  });

  describe('OPTIONS', () => {
    for (const [path, allow] of [
      ['/birds', COLLECTION],
      ['/birds/', COLLECTION],
      ['/birds/1', ITEM],
      ['/birds/x', ITEM],
      ['/nests', 'GET, HEAD, OPTIONS'],
      ['/nests/1', 'GET, HEAD, OPTIONS'],
      ['/eggs/stats', 'GET, HEAD, OPTIONS'],
      ['/eggs/1/warmth', 'PUT, OPTIONS'],
    ] as const) {
      it(`[A18] tells the methods of ${path}, asking nothing of the database`, async () => {
        const { result, statements } = await sql.during(() => site.agent.options(path));
        expectNothing(result, 204);
        expect(result.headers['allow']).to.equal(allow);
        expect(statements).to.deep.equal([]);
      });
    }
  });

  describe('a method that the path does not have', () => {
    const CASES = [
      ['put', '/birds', COLLECTION],
      ['patch', '/birds', COLLECTION],
      ['delete', '/birds', COLLECTION],
      ['put', '/birds/1', ITEM],
      ['post', '/birds/1', ITEM],
      ['post', '/birds/x', ITEM],
      ['post', '/nests', 'GET, HEAD, OPTIONS'],
      ['patch', '/nests/1', 'GET, HEAD, OPTIONS'],
      ['delete', '/nests/1', 'GET, HEAD, OPTIONS'],
      ['post', '/eggs/stats', 'GET, HEAD, OPTIONS'],
      ['get', '/eggs/1/warmth', 'PUT, OPTIONS'],
      ['trace', '/birds', COLLECTION],
      ['trace', '/birds/1', ITEM],
      ['propfind', '/birds', COLLECTION],
    ] as const;

    for (const [method, path, allow] of CASES) {
      const name = method.toUpperCase();

      it(`[A19] refuses ${name} ${path}, naming those it has`, async () => {
        const { result, statements } = await sql.during(() => site.agent[method](path));
        expectProblem(result, 405, {
          detail: `This path does not have the method ${name}; it has ${allow}.`,
        });
        expect(result.headers['allow']).to.equal(allow);
        expect(statements).to.deep.equal([]);
      });
    }

    it('refuses it whatever the body is', async () => {
      const response = await site.agent.put('/birds/1').set('Content-Type', 'text/plain').send('not json');
      expect(response.status).to.equal(405);
    });

    it('[A20] does not reflect a TRACE request', async () => {
      const response = await site.agent.trace('/birds').set('Authorization', 'Bearer very-secret');
      expect(response.status).to.equal(405);
      expect(JSON.stringify([response.headers, response.text])).to.not.contain('very-secret');
    });
  });
});
