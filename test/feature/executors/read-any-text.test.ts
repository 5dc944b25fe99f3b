/** Texts of all lengths and alphabets arrive as they were stored, on both paths. */
// @runs fast
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths } from '../../support/two-paths.js';

@Crud({ prefix: '/pages', pagination: 'cursor' })
@Table({ tableName: 'pages', timestamps: false })
class Page extends KeyedRow {
  @Column(DataType.TEXT) declare head: string;
  @Column(DataType.TEXT) declare body: string | null;
  @Column(DataType.TEXT) declare tail: string;
}

/** The part of Sequelize's connection manager that its types leave out. */
interface ConnectionManager {
  getConnection(options: { readonly type: 'read' }): Promise<Client>;
  releaseConnection(client: Client): void;
}

/** A client of pg. */
interface Client extends NodeJS.EventEmitter {
  readonly connection: { readonly stream: Socket };
}

const TEXTS: readonly (string | null)[] = [
  '',
  null,
  'plain',
  '"quoted" \\ \n\t\u0001',
  'naïve café',
  '日本語',
  '\u{1f600}\u{1f469}\u200d\u{1f680}',
  '\u0080\u00ff\u2028\ufeff',
  'x'.repeat(127),
  'x'.repeat(128),
  'é'.repeat(64),
  'x'.repeat(255),
  'x'.repeat(256),
  `${'x'.repeat(40_000)}é`,
  'ж'.repeat(20_000),
];

describe('texts', () => {
  const both = forSuite(() => TwoPaths.start({ models: [Page] }));
  const pages = TEXTS.map((body, id) => ({ id, head: `${body ?? ''}!`, body, tail: `é${id}` }));

  before(() => Page.bulkCreate(pages));

  it('are listed as they were stored', async () => {
    const { body } = await both.same({ path: `/pages?size=${pages.length}` });
    expect(JSON.parse(body).items).to.deep.equal(pages);
  });

  it('are read as they were stored, many at once', async () => {
    const answers = await Promise.all(pages.map(({ id }) => both.same({ path: `/pages/${id}` })));
    expect(answers.map(({ body }) => JSON.parse(body))).to.deep.equal(pages);
  });

  it('are written as they were sent', async () => {
    for (const { id, head, body, tail } of pages) {
      const created = await both.same(
        { method: 'POST', path: '/pages', body: { id: id + 1_000, head, body, tail } },
        () => Page.destroy({ where: { id: id + 1_000 } }),
      );
      await Page.destroy({ where: { id: id + 1_000 } });
      expect(JSON.parse(created.body)).to.deep.equal({ id: id + 1_000, head, body, tail });
    }
  });

  it('are read over another connection after a listener of the driver has thrown', async () => {
    const { connectionManager } = Page.sequelize as unknown as { connectionManager: ConnectionManager };
    const client = await connectionManager.getConnection({ type: 'read' });
    client.once('notice', () => {
      throw new Error('of the listener');
    });
    // Without a field: the length counts itself, and the byte that ends the fields.
    const notice = Buffer.from('N\0\0\0\u0005\0');
    expect(() => client.connection.stream.emit('data', notice)).to.throw('of the listener');
    expect(client.connection.stream.destroyed).to.equal(true);
    connectionManager.releaseConnection(client);
    const { body } = await both.same({ path: '/pages/2' });
    expect(JSON.parse(body)).to.deep.equal(pages[2]);
  });
});
