/** Creating a record: what a body must and may have, what the row then holds, and where it is. */

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { QueryTypes } from 'sequelize';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'books', underscored: true, version: true, paranoid: true })
class Book extends Model {
  @PrimaryKey @AutoIncrement @Column(DataType.BIGINT) declare id: string;
  @Column({ type: DataType.STRING(60), allowNull: false }) declare title: string;
  @Column({ type: DataType.STRING(13), unique: true }) declare isbn: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare copies: number;
  @Column({ type: DataType.STRING(10), defaultValue: 'en' }) declare language: string | null;

  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.STRING(20), allowNull: false, defaultValue: 'none' })
  declare accessCode: string;
}

/** A row whose defaults only the database knows. */
@Crud({ prefix: '/loans' })
@Table({ tableName: 'loans', timestamps: false })
class Loan extends Model {
  @PrimaryKey @Column({ type: DataType.UUID, defaultValue: DataType.UUIDV4 }) declare id: string;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare reader: string;
  @Column(DataType.STRING(20)) declare stamp: string | null;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('creating a record', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Book, Loan],
    engine: { logging: sql.record, pool: { max: 1 } },
  }));

  const rows = (statement: string) => site.engine.sequelize.query(statement, { type: QueryTypes.SELECT });

  before(() =>
    site.engine.sequelize.query(`
      CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.stamp = 'stamped'; RETURN NEW; END $$;
      CREATE TRIGGER stamp BEFORE INSERT ON loans FOR EACH ROW EXECUTE FUNCTION stamp();
    `),
  );

  beforeEach(() => emptyTables(site, 'books', 'loans'));

  it('stores the row and answers with it, 201, and its address', async () => {
    const response = await site.agent
      .post('/books')
      .send({ title: 'Emma', isbn: '9780141439587', copies: 3, language: 'de', accessCode: 'k7' });
    const [row] = (await rows('SELECT * FROM books')) as [Record<string, unknown>];
    const { created_at, updated_at, ...rest } = row;
    expect(rest).to.deep.equal({
      id: '1',
      title: 'Emma',
      isbn: '9780141439587',
      copies: 3,
      language: 'de',
      access_code: 'k7',
      version: 0,
      deleted_at: null,
    });
    expectJson(response, 201, {
      id: '1',
      title: 'Emma',
      isbn: '9780141439587',
      copies: 3,
      language: 'de',
      createdAt: (created_at as Date).toISOString(),
      updatedAt: (updated_at as Date).toISOString(),
      deletedAt: null,
      version: 0,
    });
    expect(response.headers['location']).to.equal('/books/1');
  });

  it('gives an address under which the same record is read', async () => {
    const { body, headers } = await site.agent.post('/books').send({ title: 'Persuasion' });
    expectJson(await site.agent.get(String(headers['location'])), 200, body);
  });

  it('fills in null and the defaults for what is absent', async () => {
    const { body, status } = await site.agent.post('/books').send({ title: 'Sanditon' });
    expect(status).to.equal(201);
    expect(body).to.include({ isbn: null, copies: 1, language: 'en' });
    expect(await rows('SELECT isbn, copies, language, access_code FROM books')).to.deep.equal([
      { isbn: null, copies: 1, language: 'en', access_code: 'none' },
    ]);
  });

  it('tells null from absent: null is null, whatever the default', async () => {
    const { body, status } = await site.agent.post('/books').send({ title: 'Sanditon', language: null });
    expect(status).to.equal(201);
    expect(body).to.include({ language: null });
  });

  it('refuses null where there is a default but no null', async () => {
    expectIssue(await site.agent.post('/books').send({ title: 'Sanditon', copies: null }), 422, {
      pointer: '/copies',
      code: 'isDefined',
      detail: 'copies must not be null.',
    });
  });

  it('answers with what defaults and triggers made of the row', async () => {
    const response = await site.agent.post('/loans').send({ reader: 'Jane' });
    expect(response.body.id).to.match(UUID);
    expectJson(response, 201, { id: response.body.id, reader: 'Jane', stamp: 'stamped' });
    expect(response.headers['location']).to.equal(`/loans/${response.body.id}`);
  });

  it('inserts with one statement', async () => {
    const { statements } = await sql.duringRequest(() => site.agent.post('/books').send({ title: 'Emma' }));
    expect(statements).to.have.lengthOf(1);
    expect(statements[0]).to.match(/^INSERT INTO "books" /);
  });

  it('demands what has neither a default nor null', async () => {
    expectIssue(await site.agent.post('/books').send({}), 422, {
      pointer: '/title',
      code: 'isDefined',
      detail: 'title is required.',
    });
  });

  it('[C1] refuses what belongs to the database and to Sequelize', async () => {
    const body = {
      id: '7',
      title: 'Emma',
      createdAt: '2026-01-31T08:00:00.000Z',
      updatedAt: '2026-01-31T08:00:00.000Z',
      deletedAt: '2026-01-31T08:00:00.000Z',
      version: 3,
    };
    expectProblem(await site.agent.post('/books').send(body), 422, {
      detail: 'The body has 5 problems.',
      errors: ['id', 'createdAt', 'updatedAt', 'deletedAt', 'version'].map((name) => ({
        pointer: `/${name}`,
        code: 'readOnly',
        detail: `${name} cannot be set.`,
      })),
    });
    expect(await rows('SELECT id FROM books')).to.deep.equal([]);
  });

  it('refuses a query parameter', async () => {
    expectIssue(await site.agent.post('/books?dry=1').send({ title: 'Emma' }), 400, {
      parameter: 'dry',
      code: 'unknown',
      detail: "This route has no parameter 'dry'. It accepts none.",
    });
    expect(await rows('SELECT id FROM books')).to.deep.equal([]);
  });

  it('lets one of many at the same time have a unique value', async () => {
    const attempts = Array.from({ length: 50 }, () =>
      site.agent
        .post('/books')
        .send({ title: 'Emma', isbn: '9780141439587' })
        .then(({ status }) => status),
    );
    const statuses = await Promise.all(attempts);
    expect(statuses.toSorted()).to.deep.equal([201, ...Array.from({ length: 49 }, () => 409)]);
    expect(await rows('SELECT count(*)::int AS count FROM books')).to.deep.equal([{ count: 1 }]);
  });
});
