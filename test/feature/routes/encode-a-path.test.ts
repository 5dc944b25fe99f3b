/** Paths and query strings that are encoded wrongly, or mean nothing. */
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { exchange, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'keys', timestamps: false })
class Key extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare id: string;
}

describe('encoding a path', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({ models: [Key], engine: { logging: sql.record } }));

  for (const id of ['%ff', '%C3%28', '%ED%A0%80', '%', '%4', '%zz']) {
    for (const method of ['get', 'delete', 'options'] as const) {
      it(`answers 400 to ${method.toUpperCase()} of the id ${id}, asking nothing of the database`, async () => {
        const { result, statements } = await sql.duringRequest(() => site.agent[method](`/keys/${id}`));
        expectProblem(result, 400, { detail: 'The path is not valid percent-encoded UTF-8.' });
        expect(statements).to.deep.equal([]);
      });
    }
  }

  for (const query of ['size=%ff', 'size=%C3%28', 'size=%', '%ff=1']) {
    it(`[C5 D11] answers 400 to the parameter ${query}`, async () => {
      const parameter = query.startsWith('size') ? 'size' : '%ff';
      expectIssue(await site.agent.get(`/keys?${query}`), 400, {
        parameter,
        code: 'encoding',
        detail: `Parameter '${parameter}' is not valid percent-encoded UTF-8.`,
      });
    });
  }

  for (const name of '__proto__ constructor hasOwnProperty toString size[] size[gt] q[] q[$gt] where page.x'.split(
    ' ',
  )) {
    it(`[D11] answers 400 to the parameter ${name}`, async () => {
      const response = await site.agent.get(`/keys?${encodeURIComponent(name)}=1`);
      expect(response.body.errors).to.have.lengthOf(1);
      expect(response.body.errors[0]).to.include({ parameter: name, code: 'unknown' });
      expect(response.status).to.equal(400);
    });
  }

  it('answers a request line with an absolute address', async () => {
    const head = requestHead(`GET ${site.server.url}/keys?size=1`, { Connection: 'close' });
    expect((await exchange(site.server, head)).status).to.equal(200);
  });
});
