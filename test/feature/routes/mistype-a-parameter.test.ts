/** Unknown query parameters: refused, so that a typo does not change the meaning of a request, or ignored. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { Name } from '../../models/names.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson } from '../../support/expect-answer.js';
import { serveTestApp, type TestApp } from '../../support/test-app.js';

@Crud({
  filterAllow: {
    name: true,
    labels: true,
    secret: true,
    'details.size': 'number',
    'hidden.size': 'number',
  },
  fields: { secret: { read: () => false }, hidden: { read: () => true } },
})
@Table({ tableName: 'signs', timestamps: false })
class Sign extends NumberedRow {
  @Column(DataType.STRING(20)) declare name: string | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare labels: string[] | null;
  @Column(DataType.STRING(20)) declare secret: string | null;
  @Column(DataType.JSONB) declare details: object | null;
  @Column(DataType.JSONB) declare hidden: object | null;
}

const ONE = { id: 1, name: 'one' };

describe('mistyping a parameter', () => {
  const site = serveTestApp(() => ({ models: [Name, Sign] }));

  beforeEach(async () => {
    await emptyTables(site, 'names');
    await Name.create({ name: 'one' });
  });

  describe('where unknown ones are refused', () => {
    it('suggests the one that was meant, or how to filter by what is filtered by', async () => {
      for (const [name, hint] of [
        ['pgae', " Did you mean 'page'?"],
        ['Page', " Did you mean 'page'?"],
        ['', ''],
        ['x', ''],
        ['name', ' To filter by it, send q=name==value.'],
        ['labels', ' To filter by it, send q=labels=contains=value.'],
        ['details.size', ' To filter by it, send q=details.size==value.'],
        // Not by this request, or not by any.
        ['secret', ''],
        ['hidden.size', ''],
        ['details', ''],
      ] as const) {
        expectIssue(await site.agent.get(`/signs?${name}=x`), 400, {
          parameter: name,
          code: 'unknown',
          detail: `This route has no parameter '${name}'.${hint} It accepts page, size, sort, q, fields.`,
        });
      }
    });

    for (const name of '__proto__ constructor hasOwnProperty toString size[] size[gt] q[] q[$gt] where page.x'.split(
      ' ',
    )) {
      it(`[D11] refuses ${name}`, async () => {
        const { status, body } = await site.agent.get(`/names?${encodeURIComponent(name)}=1`);
        expect(body.errors).to.have.lengthOf(1);
        expect(body.errors[0]).to.include({ parameter: name, code: 'unknown' });
        expect(status).to.equal(400);
      });
    }

    it('[C5 D11] refuses those that are encoded wrongly, by a name that can be shown', async () => {
      for (const [query, parameter] of [
        ['size=%ff', 'size'],
        ['size=%C3%28', 'size'],
        ['size=%', 'size'],
        ['%ff=1', '%ff'],
      ] as const) {
        const detail = `Parameter '${parameter}' is not valid percent-encoded UTF-8.`;
        expectIssue(await site.agent.get(`/names?${query}`), 400, { parameter, code: 'encoding', detail });
      }
    });

    it('[D12] refuses them on every route, and does nothing', async () => {
      const problem = (parameter: string, accepted = 'none') => ({
        parameter,
        code: 'unknown',
        detail: `This route has no parameter '${parameter}'. It accepts ${accepted}.`,
      });
      expectIssue(await site.agent.get('/names/1?page=1'), 400, problem('page', 'fields'));
      expectIssue(await site.agent.get('/signs/1?name'), 400, problem('name', 'fields'));
      expectIssue(await site.agent.post('/names?dry=1').send({ name: 'two' }), 400, problem('dry'));
      expectIssue(await site.agent.patch('/names/1?dry=1').send({ name: 'two' }), 400, problem('dry'));
      expectIssue(await site.agent.delete('/names/1?dry=1'), 400, problem('dry'));
      // A wrong query comes before a wrong id, and that before the body.
      expectIssue(await site.agent.patch('/names/x?dry=1').type('json').send('{'), 400, problem('dry'));
      expect(await Name.findAll({ raw: true })).to.deep.equal([ONE]);
    });
  });

  describe('where unknown ones are ignored', () => {
    class Flags extends crudController(Name, { unknownQuery: 'ignore' }) {}
    let agent: TestApp['agent'];

    before(async () => {
      agent = (await buildApp({ models: [Name], controllers: [Flags] })).agent;
    });

    it('[D12] answers as without them', async () => {
      expectJson(await agent.get('/names/1?utm_source=mail'), 200, ONE);
      expect((await agent.get('/names?utm_source=mail&size=1')).body.items).to.deep.equal([ONE]);
      expect((await agent.post('/names?x=1').send({ name: 'two' })).status).to.equal(201);
      expect((await agent.patch('/names/1?x=1').send({})).status).to.equal(200);
      expect((await agent.delete('/names/1?x=1')).status).to.equal(204);
    });

    it('still refuses what it reads and does not understand', async () => {
      expectIssue(await agent.get('/names?size=x&pgae=2'), 400, {
        parameter: 'size',
        code: 'range',
        detail: "Parameter 'size' is 'x'; it accepts an integer from 1 to 100.",
      });
      expectIssue(await agent.get('/names?size=1&size=2'), 400, {
        parameter: 'size',
        code: 'repeated',
        detail: "Parameter 'size' may be given once.",
      });
    });

    it('ignores what a stranger gives twice', async () =>
      expectJson(await agent.get('/names/1?utm=a&utm=b'), 200, ONE));
  });
});
