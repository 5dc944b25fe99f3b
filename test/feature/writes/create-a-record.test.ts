/** Creating a record: what a body must and may have, what the row then holds, and where it is. */

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { QueryTypes } from 'sequelize';
import { AutoIncrement, Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
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

const EMMA = { title: 'Emma', isbn: '9780141439587', copies: 3, language: 'de' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('creating a record', () => {
  const site = serveTestApp(() => ({ models: [Book, Loan], engine: { pool: { max: 1 } } }));

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
    const response = await site.agent.post('/books').send({ ...EMMA, accessCode: 'k7' });
    const [row] = (await rows('SELECT * FROM books')) as [Record<string, unknown>];
    const { created_at, updated_at, ...rest } = row;
    expect(rest).to.deep.equal({
      ...EMMA,
      id: '1',
      access_code: 'k7',
      version: 0,
      deleted_at: null,
    });
    expectJson(response, 201, {
      ...EMMA,
      id: '1',
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

  it('answers with what defaults and triggers made of the row', async () => {
    const response = await site.agent.post('/loans').send({ reader: 'Jane' });
    expect(response.body.id).to.match(UUID);
    expectJson(response, 201, { id: response.body.id, reader: 'Jane', stamp: 'stamped' });
    expect(response.headers['location']).to.equal(`/loans/${response.body.id}`);
  });

  for (const [what, body, name, detail] of [
    ['is absent and has neither a default nor null', {}, 'title', 'title is required.'],
    [
      'is null and has a default but no null',
      { title: 'Emma', copies: null },
      'copies',
      'copies must not be null.',
    ],
  ] as const) {
    it(`refuses what ${what}`, async () => {
      const issue = { pointer: `/${name}`, code: 'isDefined', detail };
      expectIssue(await site.agent.post('/books').send(body), 422, issue);
    });
  }

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
});
