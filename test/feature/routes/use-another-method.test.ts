/** HEAD, OPTIONS, and the methods that a path does not have. */
import { expect } from 'chai';
import { Get, Param, Put } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { Name } from '../../models/names.js';
import { NumberedRow } from '../../models/rows.js';
import { expectNoMethod, expectNothing } from '../../support/expect-answer.js';
import { exchange, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

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
const READS = 'GET, HEAD, OPTIONS';

/** Each path with its methods, and some that it does not have. */
const PATHS = [
  ['/names', COLLECTION, ['put', 'patch', 'delete', 'trace', 'propfind']],
  ['/names/', COLLECTION, ['put']],
  ['/names/1', ITEM, ['put', 'post', 'trace']],
  ['/names/x', ITEM, ['post']],
  ['/nests', READS, ['post']],
  ['/nests/1', READS, ['patch', 'delete']],
  // No record has this id.
  ['/eggs/stats', READS, ['post']],
  ['/eggs/1/warmth', 'PUT, OPTIONS', ['get']],
] as const;

describe('using another method', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Name, Nest, Egg],
    engine: { logging: sql.record },
    bootstrap: { controllers: [EggController] },
  }));

  before(() => Name.create({ name: 'wren' }));

  describe('HEAD', () => {
    for (const path of ['/names', '/names/1', '/names/99', '/names/x', '/names?size=0']) {
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
      const answer = await exchange(site.server, requestHead('HEAD /names', { Connection: 'close' }));
      expect(answer.status).to.equal(200);
      expect(answer.body).to.equal('');
    });
  });

  for (const [path, allow, others] of PATHS) {
    it(`[A18] OPTIONS tells the methods of ${path}, asking nothing of the database`, async () => {
      const { result, statements } = await sql.during(() => site.agent.options(path));
      expectNothing(result, 204);
      expect(result.headers['allow']).to.equal(allow);
      expect(statements).to.deep.equal([]);
    });

    for (const method of others) {
      const name = method.toUpperCase();

      it(`[A19] refuses ${name} ${path}, naming those it has`, async () => {
        const { result, statements } = await sql.during(() => site.agent[method](path));
        expectNoMethod(result, name, allow);
        expect(statements).to.deep.equal([]);
      });
    }
  }

  describe('a method that the path does not have', () => {
    it('refuses it whatever the body is', async () => {
      const response = await site.agent.put('/names/1').set('Content-Type', 'text/plain').send('not json');
      expect(response.status).to.equal(405);
    });

    it('[A20] does not reflect a TRACE request', async () => {
      const response = await site.agent.trace('/names').set('Authorization', 'Bearer very-secret');
      expect(response.status).to.equal(405);
      expect(JSON.stringify([response.headers, response.text])).to.not.contain('very-secret');
    });
  });
});
