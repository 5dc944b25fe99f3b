/** Refusals by the database: the status, the attribute where its name is safe to show, and never the database's words. */

import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import {
  BeforeValidate,
  BelongsTo,
  Column,
  DataType,
  ForeignKey,
  Model,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud()
@Table({ tableName: 'authors', underscored: true, timestamps: false })
class Author extends Model {
  @PrimaryKey @Column(DataType.STRING(10)) declare code: string;
  @Column({ type: DataType.STRING(40), unique: true }) declare penName: string | null;
  @ForeignKey(() => Author) @Column(DataType.STRING(10)) declare teacherCode: string | null;
  @BelongsTo(() => Author, { onDelete: 'RESTRICT', onUpdate: 'RESTRICT' }) declare teacher?: Author;
  @Exclude() @Column({ type: DataType.STRING(20), unique: true }) declare badge: string | null;
}

@Crud()
@Table({
  tableName: 'volumes',
  underscored: true,
  timestamps: false,
  indexes: [{ name: 'volumes_of_author', unique: true, fields: ['author_code', 'number'] }],
})
class Volume extends NumberedRow {
  @ForeignKey(() => Author)
  @Column({ type: DataType.STRING(10), allowNull: false })
  declare authorCode: string;

  @BelongsTo(() => Author, { onDelete: 'RESTRICT' }) declare author?: Author;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare number: number;
  @Column(DataType.STRING(40)) declare title: string | null;
  @Column(DataType.INTEGER) declare firstPage: number | null;
  @Column(DataType.INTEGER) declare lastPage: number | null;
  @Column('xml') declare page: string | null;
}

/** Refers to an author, which PostgreSQL checks when a transaction is committed. */
@Crud()
@Table({ tableName: 'loans', underscored: true, timestamps: false })
class Loan extends NumberedRow {
  @ForeignKey(() => Author) @Column(DataType.STRING(10)) declare authorCode: string;
}

/** A row with the SQLSTATE of its refusal. */
@Crud()
@Table({ tableName: 'faults', timestamps: false })
class Fault extends NumberedRow {
  @Column({ type: DataType.STRING(5), allowNull: false }) declare state: string;
}

/** A hook sets attributes that no client has, and breaks rules of Sequelize's. */
@Crud()
@Table({ tableName: 'tickets', timestamps: false })
class Ticket extends NumberedRow {
  @Column({ type: DataType.STRING(9), validate: { isAlpha: true } }) declare name: string | null;

  @Exclude()
  @Column({ type: DataType.STRING(9), validate: { isUppercase: { msg: 'seal has small letters' } } })
  declare seal: string | null;

  @Exclude()
  @Column({ type: DataType.STRING(9), allowNull: false, defaultValue: 'none' })
  declare safe: string | null;

  @BeforeValidate
  static stamp(ticket: Ticket): void {
    if (ticket.name === 'open') ticket.safe = null;
    else ticket.seal = 'small';
  }
}

const SCHEMA = `
  ALTER TABLE volumes ADD CHECK (first_page > 0);
  ALTER TABLE volumes ADD CONSTRAINT pages_in_order CHECK (first_page <= last_page);
  ALTER TABLE volumes ALTER COLUMN title TYPE varchar(20);
  CREATE UNIQUE INDEX volumes_title ON volumes (lower(title));
  ALTER TABLE authors ADD EXCLUDE USING gist (int4range(0, length(code), '[]') WITH &&) WHERE (code LIKE 'x%');
  ALTER TABLE loans ADD FOREIGN KEY (author_code) REFERENCES authors DEFERRABLE INITIALLY DEFERRED;
  CREATE TABLE prizes (author_code varchar(10) REFERENCES authors);
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'relation "inner secret" violates %', NEW.state
      USING ERRCODE = NEW.state, DETAIL = 'Key (state)=(' || NEW.state || ') conflicts.'; END $$;
  CREATE TRIGGER refuse BEFORE INSERT ON faults FOR EACH ROW EXECUTE FUNCTION refuse();
`;

const REFERENCED = {
  detail: 'The record refers to one that does not exist, or is still referred to by others.',
};
const DANGLING = {
  pointer: '/authorCode',
  code: 'foreignKey',
  detail: 'The value of authorCode refers to a record that does not exist.',
};
const notAccepted = (name: string) => ({
  pointer: `/${name}`,
  code: 'invalid',
  detail: `The database does not accept the value of ${name}.`,
});
const NOT_ACCEPTED = { detail: 'The database does not accept these values.' };

describe('being refused by the database', () => {
  const logger = new CapturedLog();
  const site = serveTestApp(() => ({ models: [Author, Volume, Loan, Fault, Ticket], bootstrap: { logger } }));

  const createAuthor = (values: object) => site.agent.post('/authors').send(values);
  const createVolume = (values: object) =>
    site.agent.post('/volumes').send({ authorCode: 'mary', ...values });
  const changeVolume = (values: object) => site.agent.patch('/volumes/1').send(values);

  before(() => site.engine.sequelize.query(SCHEMA));

  beforeEach(async () => {
    logger.clear();
    await emptyTables(site, 'prizes', 'loans', 'volumes', 'faults', 'authors');
    await Author.create({ code: 'mary', penName: 'M', badge: 'b1' });
    await Author.create({ code: 'jane', penName: 'J', teacherCode: 'mary' });
    await Volume.create({ authorCode: 'mary', number: 1, title: 'One', firstPage: 1, lastPage: 9 });
    await Volume.create({ authorCode: 'mary', number: 2 });
  });

  const query = (text: string) => site.engine.sequelize.query(text);
  const createTicket = (name: string) => site.agent.post('/tickets').send({ name });
  const taken = (name: string, model = 'Author') => ({
    pointer: `/${name}`,
    code: 'unique',
    detail: `Another ${model} has the same ${name}.`,
  });
  const UNNAMED = { detail: 'Another record has the same unique value.' };
  const VOLUME = [taken('authorCode', 'Volume'), taken('number', 'Volume')];
  /** Sends a request while a column is NOT NULL. */
  const without = async (column: string, undo: string, send: () => PromiseLike<Response>) => {
    await query(column);
    const response = await send();
    await query(undo);
    return response;
  };
  const penName = '), (badge)=(b1, constraint "x"';

  for (const [what, send, status, ...errors] of [
    ['a unique value', () => createAuthor({ code: 'anna', penName: 'M' }), 409, taken('penName')],
    [
      'a unique value that is changed',
      () => site.agent.patch('/authors/jane').send({ penName: 'M' }),
      ...([409, taken('penName')] as const),
    ],
    [
      'a unique value that looks like words of the database',
      async () => {
        await createAuthor({ code: 'anna', penName });
        return createAuthor({ code: 'rose', penName });
      },
      ...([409, taken('penName')] as const),
    ],
    ['a primary key', () => createAuthor({ code: 'mary' }), 409, taken('code')],
    ['an index of several', () => createVolume({ number: 1 }), 409, ...VOLUME],
    ['an index of several, in a change', () => changeVolume({ number: 2 }), 409, ...VOLUME],
    ['a reference to nothing', () => createVolume({ authorCode: 'nobody' }), 409, DANGLING],
    ['a changed reference to nothing', () => changeVolume({ authorCode: 'nobody' }), 409, DANGLING],
    ['a check', () => createVolume({ number: 3, firstPage: 0 }), 422, notAccepted('firstPage')],
    ['a check of a change', () => changeVolume({ firstPage: -1 }), 422, notAccepted('firstPage')],
    [
      'null',
      () =>
        without(
          'UPDATE volumes SET last_page = 9; ALTER TABLE volumes ALTER COLUMN last_page SET NOT NULL',
          'ALTER TABLE volumes ALTER COLUMN last_page DROP NOT NULL',
          () => changeVolume({ lastPage: null }),
        ),
      ...([422, notAccepted('lastPage')] as const),
    ],
    [
      'a rule of Sequelize',
      () => createTicket('1'),
      ...([422, { pointer: '/name', code: 'isAlpha', detail: 'Validation isAlpha on name failed' }] as const),
    ],
  ] as const)
    it(`names each attribute of ${what}, and logs nothing of what a client can put right`, async () => {
      const detail = errors.length > 1 ? UNNAMED.detail : errors[0]?.detail;
      expectProblem(await send(), status, { detail, errors });
      expect(logger.lines).to.deep.equal([]);
    });

  for (const [what, send, status, body] of [
    ['an index that only the database knows', () => createVolume({ number: 3, title: 'ONE' }), 409, UNNAMED],
    [
      'an attribute that the client cannot know',
      () =>
        withHook(
          Author,
          'beforeCreate',
          (author: Author) => author.set('badge', 'b1'),
          () => createAuthor({ code: 'anna' }),
        ),
      ...([409, UNNAMED] as const),
    ],
    [
      'an exclusion',
      async () => {
        expect((await createAuthor({ code: 'x1' })).status).to.equal(201);
        return createAuthor({ code: 'x234' });
      },
      ...([409, { detail: 'The record conflicts with another one.' }] as const),
    ],
    ['a check that somebody else named', () => changeVolume({ firstPage: 10 }), 422, NOT_ACCEPTED],
    [
      'a column that the model does not know',
      () =>
        without(
          "ALTER TABLE volumes ADD COLUMN shelf text DEFAULT 'a' NOT NULL; ALTER TABLE volumes ALTER COLUMN shelf DROP DEFAULT",
          'ALTER TABLE volumes DROP COLUMN shelf',
          () => createVolume({ number: 3 }),
        ),
      ...([422, NOT_ACCEPTED] as const),
    ],
    ['a column that is too short', () => changeVolume({ title: 'a'.repeat(21) }), 422, NOT_ACCEPTED],
    ['a type of the database', () => changeVolume({ page: '<not well formed' }), 422, NOT_ACCEPTED],
    ['a rule for what no client knows', () => createTicket('ok'), 422, NOT_ACCEPTED],
    ['null in what no client knows', () => createTicket('open'), 422, NOT_ACCEPTED],
  ] as const)
    it(`names nothing of ${what}`, async () => expectProblem(await send(), status, body));

  for (const [who, code, statement] of [
    ['others refer to', 'mary', 'SELECT 1'],
    ['a row of the same table refers to', 'mary', 'DELETE FROM volumes'],
    ['a table without a model refers to', 'jane', "INSERT INTO prizes VALUES ('jane')"],
  ] as const)
    it(`keeps what ${who}, and does not say that it refers to nothing`, async () => {
      await query(statement);
      expectProblem(await site.agent.delete(`/authors/${code}`), 409, REFERENCED);
      expect([await Author.count(), logger.lines]).to.deep.equal([2, []]);
    });

  it('[E1] when it commits, does not say that it has written', async () => {
    const createLoan = (authorCode: string) => site.agent.post('/loans').send({ authorCode });
    expectIssue(await createLoan('nobody'), 409, DANGLING);
    const { status, body } = await createLoan('mary');
    expect(status).to.equal(201);
    expectIssue(await site.agent.patch(`/loans/${body.id}`).send({ authorCode: 'nobody' }), 409, DANGLING);
    expect(await Loan.findAll({ raw: true })).to.deep.equal([body]);
  });

  describe('[E8] with a SQLSTATE', () => {
    const STATES = [
      ['23505', 409, 'Another record has the same unique value.'],
      ['23503 23001', 409, REFERENCED.detail],
      ['23P01', 409, 'The record conflicts with another one.'],
      ['40001 40P01', 409, 'Somebody else changed the data at the same time; try again.'],
      ['23502 23514 22001 22003 22008 22P02 22P05 44000', 422, NOT_ACCEPTED.detail],
      ['P0001', 422, 'A rule of the database refuses this.'],
      ['42501', 403, 'The database does not allow you to do this.'],
      ['57014', 504, 'The database did not answer in time.'],
      ['42P01 XX000', 500, 'Internal Server Error'],
      [
        '53300 53200 57P01 57P03 08006 25006 25P04 57P04 40003 58030',
        503,
        'The database is not available; try again.',
      ],
      ['55P03', 503, 'The database is busy; try again.'],
    ] as const;

    for (const [states, status, detail] of STATES) {
      it(`answers ${status} to ${states}${status === 503 ? ', and when to try again' : ''}`, async () => {
        for (const state of states.split(' ')) {
          const response = await site.agent.post('/faults').send({ state });
          expectProblem(response, status, { detail });
          if (status === 503) expect(response.headers['retry-after'], state).to.equal('1');
        }
      });
    }
  });
});
