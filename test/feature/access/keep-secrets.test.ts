/** A secret in a body that fails, for whatever reason: it is in no answer and in no log line, nor is anything internal. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Transform } from 'class-transformer';
import { Contains, IsNotEmpty, Length, Matches } from 'class-validator';
import express from 'express';
import { Body, BodyParam, JsonController, Post } from 'routing-controllers';
import { Column, DataType, ForeignKey, Model, PrimaryKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import { Crud, type CrudContext, crudController, disposeEngine } from '../../../src/index.js';
import { NumberedManyTypes } from '../../models/many-types.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const SECRET = 'hunter2-5f4dcc3b';
/** As a number, because not every secret is a text. */
const NUMBER = 4_111_111_111_111_111;

/** Internals that no client needs: statements, names and words of the database, frames and files of the server. */
const INTERNAL =
  /\b(?:SELECT|INSERT|UPDATE "|DELETE FROM|RETURNING|relation|violates|constraint|sequelize|postgres|pg_|syntax|bind)\b|\$1|vaults|node_modules|\.js:|\bat \S+ \(|"sql"|"parameters"|"stack"/i;

@Table({ tableName: 'owners', timestamps: false })
class Owner extends Model {
  @PrimaryKey @Column(DataType.STRING(40)) declare code: string;
}

@Crud()
@Table({ tableName: 'vaults', timestamps: false, version: true })
class Vault extends NumberedManyTypes {
  @Column(DataType.DECIMAL(5, 2)) declare price: string | null;
  @Column({ type: DataType.STRING(40), unique: true }) declare token: string | null;

  @ForeignKey(() => Owner)
  @Column({ type: DataType.STRING(40), references: { model: 'owners', key: 'code' } })
  declare ownerCode: string | null;

  @Column(DataType.STRING(40)) declare checked: string | null;
  @Column(DataType.STRING(40)) declare narrow: string | null;
  @Column(DataType.INET) declare address: string | null;
  @Column(DataType.STRING(40)) declare trapped: string | null;

  @Matches(/^[a-z]+$/, { message: '$value does not match' })
  @Contains('x', { message: ({ value }) => `What is ${String(value)}?` })
  @Column(DataType.STRING(40))
  declare quoted: string | null;

  @Length(1, 2, { each: true, message: ({ value }) => `one of ${String(value)} is too long` })
  @Column(DataType.ARRAY(DataType.STRING))
  declare quotedEach: string[] | null;

  @Column({
    type: DataType.STRING(40),
    validate: {
      isAlpha: { msg: 'must have letters only' },
      quoting(value: string) {
        if (value) throw new Error(`${value} is refused`);
      },
    },
  })
  declare validated: string | null;
}

const SCHEMA = `
  ALTER TABLE vaults ADD CHECK (checked = 'ok');
  ALTER TABLE vaults ALTER COLUMN narrow TYPE varchar(3);
  CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'caught %', NEW.trapped
      USING DETAIL = NEW.trapped, HINT = NEW.trapped, ERRCODE = 'internal_error'; END $$;
  CREATE TRIGGER trap BEFORE INSERT OR UPDATE ON vaults FOR EACH ROW WHEN (NEW.trapped IS NOT NULL)
    EXECUTE FUNCTION trap();
`;

class Login {
  @IsNotEmpty() @Length(1, 4) declare password: string;
}

class QuotingLogin {
  @Transform(({ value }) => ` ${String(value)} `)
  @Matches(/^[a-z]+$/, { message: '$value does not match' })
  declare password: string;
}

@JsonController('/logins')
class LoginController {
  @Post('/')
  login(@Body() login: Login): object {
    return { length: login.password.length };
  }

  @Post('/pin')
  loginByPin(@BodyParam('pin') pin: number): object {
    return { digits: String(pin).length };
  }

  @Post('/quoting')
  loginQuoting(@Body() login: QuotingLogin): object {
    return { length: login.password.length };
  }
}

class FailingController extends crudController(Vault, { prefix: '/failing' }) {
  override create(values: { token: string }, _context: CrudContext<Vault>): Promise<Vault> {
    throw new Error(`cannot store ${values.token.length} characters`, { cause: values });
  }

  @Post('/raw')
  async raw(@Body() body: { token: string }): Promise<unknown> {
    return await Vault.sequelize?.query('SELECT * FROM nowhere WHERE token = $1', { bind: [body.token] });
  }

  @Post('/inlined')
  async inlined(@Body() body: { token: string }): Promise<unknown> {
    return await Vault.findAll({ where: { nothing: `$1 ${body.token}` } });
  }
}

const refused = (attribute: string, value: unknown = SECRET) => ({ [attribute]: value });

const BODIES: readonly (readonly [what: string, body: unknown, status: number])[] = [
  ['a text for an integer', refused('whole'), 422],
  ['a number beyond an integer', refused('whole', NUMBER), 422],
  ['a text for a bigint', refused('big'), 422],
  ['a number for a bigint', refused('big', NUMBER), 422],
  ['a text for a decimal', refused('price'), 422],
  ['a decimal that is too long', refused('price', String(NUMBER)), 422],
  ['a text for a float', refused('double'), 422],
  ['a text for a boolean', refused('flag'), 422],
  ['a text for a date', refused('moment'), 422],
  ['a text for a day', refused('day'), 422],
  ['a text for a time', refused('time'), 422],
  ['a text for a UUID', refused('uuid'), 422],
  ['a text with NUL in JSON', refused('jsonb', { a: `${SECRET}\0` }), 422],
  ['an unknown member of an enumeration', refused('colour'), 422],
  ['no base64', refused('bytes'), 422],
  ['a text that is too long', refused('short'), 422],
  ['a number for a text', refused('short', NUMBER), 422],
  ['a text for an array', refused('numbers'), 422],
  ['texts for an array of integers', refused('numbers', [SECRET]), 422],
  ['an object for a text', refused('token', { a: SECRET }), 422],
  ['the value of an unknown property', refused('nothing'), 422],
  ['a deep value of an unknown property', refused('nothing', { a: [{ b: SECRET }] }), 422],
  ['the value of a read-only property', refused('id'), 422],
  ['the value of the version', refused('version', NUMBER), 422],
  ['a value that a validator quotes', refused('quoted'), 422],
  ['a number that a validator quotes', refused('quoted', NUMBER), 422],
  ['an array that a validator quotes', refused('quotedEach', [SECRET, SECRET]), 422],
  ['a value that a rule of Sequelize quotes', refused('validated'), 422],
  ['a value that is taken', refused('token'), 409],
  ['a reference to nothing', refused('ownerCode'), 409],
  ['a value that a check refuses', refused('checked'), 422],
  ['a value that is too long for the database', refused('narrow'), 422],
  ['a value that only the database understands', refused('address'), 422],
  ['a value that a trigger repeats', refused('trapped'), 500],
  ['a value that a trigger repeats, looking like a frame', refused('trapped', `x\n    at ${SECRET}`), 500],
  ['a text instead of an object', SECRET, 422],
  ['an array instead of an object', [SECRET], 422],
  ['a number instead of an object', NUMBER, 422],
];

describe('keeping secrets', () => {
  const logger = new CapturedLog();
  const statements: string[] = [];
  const site = serveTestApp(() => ({
    models: [Owner, Vault],
    engine: { logging: (statement) => void statements.push(statement) },
    bootstrap: { models: [Vault], logger, controllers: [LoginController] },
  }));

  const expectSilence = (response: Response, status: number): void => {
    const answer = `${response.text} ${JSON.stringify(response.headers)}`;
    expect(answer).to.not.contain(SECRET);
    expect(answer).to.not.contain(String(NUMBER));
    expect(response.text).to.not.match(INTERNAL);
    expect(response.status).to.equal(status);
    expect(response.headers['content-type']).to.equal('application/problem+json');
    expect(logger.text).to.not.contain(SECRET);
    expect(logger.text).to.not.contain(String(NUMBER));
    expect(statements.join('\n')).to.not.contain(SECRET);
  };

  before(() => site.engine.sequelize.query(SCHEMA));

  beforeEach(async () => {
    await emptyTables(site, 'vaults', 'owners');
    await Vault.create({ token: SECRET });
    await Vault.create({ token: 'other' });
    logger.clear();
    statements.length = 0;
  });

  for (const [what, body, status] of BODIES) {
    it(`says nothing of ${what} in a create and in an update`, async () => {
      for (const request of [site.agent.post('/vaults'), site.agent.patch('/vaults/2')])
        expectSilence(await request.type('json').send(JSON.stringify(body)), status);
    });
  }

  describe('in a body that cannot be read', () => {
    const BROKEN: readonly (readonly [string, string | Buffer, Record<string, string>, number])[] = [
      ['malformed', `{"token":"${SECRET}"`, {}, 400],
      ['not JSON at all', SECRET, {}, 400],
      ['a number with rubbish', `${NUMBER}x`, {}, 400],
      ['not UTF-8', Buffer.concat([Buffer.from(`{"token":"${SECRET}`), Buffer.from([0xff])]), {}, 400],
      ['too deep', `${'['.repeat(40)}"${SECRET}"${']'.repeat(40)}`, {}, 400],
      ['too large', JSON.stringify({ token: SECRET.repeat(10_000) }), {}, 413],
      ['of another type', `token=${SECRET}`, { 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
      [
        'in another charset',
        `{"token":"${SECRET}"}`,
        { 'Content-Type': 'application/json; charset=latin1' },
        415,
      ],
      ['not compressed as announced', `{"token":"${SECRET}"}`, { 'Content-Encoding': 'gzip' }, 400],
      ['malformed when decompressed', gzipSync(`{"token":"${SECRET}"`), { 'Content-Encoding': 'gzip' }, 400],
    ];
    for (const [what, body, headers, status] of BROKEN) {
      it(`says nothing of one that is ${what}`, async () => {
        const response = await site.agent
          .post('/vaults')
          .set({ 'Content-Type': 'application/json', ...headers })
          .serialize((data: unknown) => data as string)
          .send(body);
        expectSilence(response, status);
      });
    }

    it("says nothing of one that the application's own parser refuses", async () => {
      const { agent } = await buildApp({ models: [Vault], logger }, (app) => app.use(express.json()));
      expectSilence(await agent.post('/vaults').type('json').send(`{"token":${SECRET}}`), 400);
    });

    it('says nothing of one for a hand-written controller', async () =>
      expectSilence(await site.agent.post('/logins').type('json').send(`{"password":${SECRET}}`), 400));
  });

  describe('in a body that fails later', () => {
    it('says nothing of one that a hand-written controller validates, or a validator of it quotes', async () => {
      expectSilence(await site.agent.post('/logins').send({ password: SECRET }), 422);
      expectSilence(await site.agent.post('/logins').send({ password: 'ok', other: SECRET }), 422);
      const response = await site.agent.post('/logins/quoting').send({ password: SECRET });
      expectSilence(response, 422);
      expect(response.body).to.deep.equal({
        detail: 'password is not valid.',
        errors: [{ pointer: '/password', code: 'matches', detail: 'password is not valid.' }],
      });
    });

    it('says nothing of one that a parameter of a hand-written controller cannot be read from', async () => {
      for (const pin of [SECRET, `${SECRET}\n) cannot be parsed into number.`]) {
        const response = await site.agent.post('/logins/pin').send({ pin });
        expectSilence(response, 422);
        expect(response.body).to.deep.equal({
          detail: 'pin must be a number.',
          errors: [{ pointer: '/pin', code: 'isNumber', detail: 'pin must be a number.' }],
        });
      }
    });

    it('says nothing of one for a record that does not exist', async () =>
      expectSilence(await site.agent.patch('/vaults/3').send({ token: SECRET }), 404));

    it('says nothing of one that loses against another change', async () => {
      Vault.addHook('beforeUpdate', 'race', async () => {
        await site.engine.sequelize.query('UPDATE vaults SET version = version + 1');
      });
      const response = await site.agent.patch('/vaults/2').send({ token: `${SECRET}-2` });
      Vault.removeHook('beforeUpdate', 'race');
      expectSilence(response, 409);
    });

    it('says nothing of one that a controller fails with', async () => {
      const { agent } = await buildApp({ models: [Vault], controllers: [FailingController], logger });
      expectSilence(await agent.post('/failing').send({ token: SECRET }), 500);
      expect(logger.text).to.contain(`cannot store ${SECRET.length} characters`);
    });

    it('says nothing of one that becomes part of a statement', async () => {
      const { agent } = await buildApp({ models: [Vault], controllers: [FailingController], logger });
      expectSilence(await agent.post('/failing/raw').send({ token: SECRET }), 500);
      statements.length = 0;
      const inlined = await agent.post('/failing/inlined').send({ token: SECRET });
      // Sequelize's own log has the values that a statement contains; a user turns that log on.
      statements.length = 0;
      expectSilence(inlined, 500);
    });

    it('[F15] says nothing of one that meets a table that is gone', async () => {
      await site.engine.sequelize.query('ALTER TABLE vaults RENAME TO gone');
      const create = await site.agent.post('/vaults').send({ token: SECRET });
      const update = await site.agent.patch('/vaults/1').send({ token: SECRET });
      await site.engine.sequelize.query('ALTER TABLE gone RENAME TO vaults');
      expectSilence(create, 500);
      expectSilence(update, 500);
      expect(logger.lines.map(({ details }) => details['code'])).to.deep.equal(['42P01', '42P01']);
    });

    it('says nothing of one that meets a database that is gone', async () => {
      const { agent } = site;
      await disposeEngine();
      const response = await agent.post('/vaults').send({ token: SECRET });
      expectSilence(response, 503);
      expect(response.body).to.deep.equal({ detail: 'The database is not available; try again.' });
    });
  });
});
