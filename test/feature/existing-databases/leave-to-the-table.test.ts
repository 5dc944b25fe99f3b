/** Values that a table makes by defaults, generated columns and triggers: answers show them, and statements leave them alone. */
// @runs fast

import { expect } from 'chai';
import { IsOptional, IsString } from 'class-validator';
import {
  BeforeCreate,
  Column,
  DataType,
  Model,
  type ModelCtor,
  PrimaryKey,
  Table,
} from 'sequelize-typescript';
import {
  Crud,
  type CrudOptions,
  createSchema,
  crudRouter,
  type ModelClass,
  Repository,
} from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { type BuiltApp, buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { except, OF_MANY } from '../../support/combination.js';
import { configError } from '../../support/config-error.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { attach, problemsOf } from '../../support/offline-models.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const UUID = /^[0-9a-f]{8}-/;
const ALL = ['list', 'read', 'create', 'update', 'replace', 'createMany', 'updateMany'] as const;

/** Its table has defaults, a generated column, and an identity column beside the key. */
abstract class Work extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare code: string;
  @Column({ type: DataType.TEXT, allowNull: false, field: 'the status' }) declare status: string;
  @Column(DataType.UUID) declare token: string | null;
  @Column(DataType.INTEGER) declare rank: number | null;
  @Column(DataType.BOOLEAN) declare open: boolean | null;
  @Column(DataType.JSONB) declare data: unknown;
  @Column(DataType.TEXT) declare note: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare net: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare gross: number;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare no: number;
}

@Crud({ endpoints: [...ALL] })
@Table({ tableName: 'jobs', timestamps: false })
class Job extends Work {}

/** A model whose hooks keep it with Sequelize. One of them sets a column that has a default in the table. */
@Crud({ endpoints: [...ALL] })
@Table({ tableName: 'jobs', timestamps: false })
class Task extends Work {
  @BeforeCreate
  static rankFirst(task: Task): void {
    if (task.note === 'ranked') task.rank = 1;
  }
}

/** Keys that only the table makes. */
@Crud({ endpoints: [...ALL].filter((each) => each !== 'replace') })
@Table({ tableName: 'tokens', timestamps: false })
class Token extends Model {
  @PrimaryKey @Column(DataType.UUID) declare id: string;
  @Column({ type: DataType.TEXT, defaultValue: 'of the model' }) declare name: string;
}

@Crud({ endpoints: [...ALL].filter((each) => each !== 'replace') })
@Table({ tableName: 'numbers', timestamps: false })
class Numbered extends KeyedRow {
  @Column(DataType.TEXT) declare name: string | null;
}

/** A class of the user's that is made before the catalogue is read. */
class JobForm extends createSchema(Job) {
  @IsOptional() @IsString() declare note: string | null;
}

@Crud({ createSchema: JobForm, endpoints: ['read', 'create'] })
@Table({ tableName: 'jobs', timestamps: false })
class Formed extends Work {}

@Crud({ endpoints: ['read', 'replace'] })
@Table({ tableName: 'numbers', timestamps: false })
class Put extends KeyedRow {}

const TABLES = `
  CREATE DOMAIN label AS text DEFAULT 'of the domain';
  CREATE TABLE jobs (code text PRIMARY KEY, "the status" text NOT NULL DEFAULT 'it''s new', token uuid DEFAULT gen_random_uuid(),
    rank int DEFAULT -3, open bool DEFAULT true, data jsonb DEFAULT '{"a": [1]}', note label, net int NOT NULL,
    gross int NOT NULL GENERATED ALWAYS AS (net * 2) STORED, no int NOT NULL GENERATED ALWAYS AS IDENTITY);
  CREATE TABLE tokens (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text DEFAULT 'of the table');
  CREATE TABLE numbers (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text)`;

const MADE = {
  status: "it's new",
  rank: -3,
  open: true,
  data: { a: [1] },
  note: 'of the domain',
  net: 5,
  gross: 10,
};
const NULLS = { token: null, rank: null, open: null, data: null, note: null };

/** A record with a word for its token. */
const shown = (record: { readonly token: string }) => ({ ...record, token: UUID.test(record.token) });

except(OF_MANY).describe('a value that a table makes', () => {
  const site = serveTestApp(() => ({
    models: [...models, Formed, Put],
    engine: { createAll: false },
    bootstrap: { models: [], logger: new CapturedLog() },
  }));
  const models = [Job, Task, Token, Numbered];

  before(() => execute(TABLES));

  beforeEach(() => execute('TRUNCATE jobs, tokens, numbers RESTART IDENTITY'));

  const execute = (sql: string) => site.engine.sequelize.query(sql);
  const start = (fastPath: boolean, options: object = {}) =>
    buildApp({ models, fastPath, logger: new CapturedLog(), indexAdvice: false, ...options });

  for (const fastPath of [true, false]) {
    describe(`with fastPath ${fastPath}`, () => {
      let agent: BuiltApp['agent'];

      before(async () => {
        ({ agent } = await start(fastPath));
      });

      for (const path of ['/jobs', '/tasks']) {
        it(`[P4] is in a record that was created at ${path}`, async () => {
          const { status, body } = await agent.post(path).send({ code: 'a', net: 5 });
          expect([status, shown(body)]).to.deep.equal([201, { code: 'a', ...MADE, token: true, no: 1 }]);
        });

        it(`is in records that were created together at ${path}`, async () => {
          const sent = [
            { code: 'a', net: 5 },
            { code: 'b', net: 5, rank: 7, note: null },
          ];
          const { status, body } = await agent.post(path).send(sent);
          expect([status, body.items.map(shown)]).to.deep.equal([
            201,
            [
              { code: 'a', ...MADE, token: true, no: 1 },
              { code: 'b', ...MADE, rank: 7, note: null, token: true, no: 2 },
            ],
          ]);
        });

        it(`is NULL at ${path} where a body says so`, async () => {
          const { body } = await agent.post(path).send({ code: 'a', net: 5, ...NULLS });
          expect(body).to.deep.equal({ code: 'a', ...MADE, ...NULLS, no: 1 });
          expect(
            (await agent.post(path).send({ code: 'b', net: 5, status: null })).body.errors,
          ).to.deep.equal([{ pointer: '/status', code: 'isDefined', detail: 'status must not be null.' }]);
        });

        it(`is in a record that was put at ${path}, and a constant is in one that was replaced`, async () => {
          const first = await agent.put(`${path}/a`).send({ net: 5 });
          expect([first.status, first.body.rank, first.body.no]).to.deep.equal([201, -3, 1]);
          await agent.patch(`${path}/a`).send({ status: 'old', ...NULLS, net: 6 });
          const { status, body } = await agent.put(`${path}/a`).send({ net: 5 });
          const replaced = { code: 'a', ...MADE, token: null, note: null, no: 1 };
          expect([status, body]).to.deep.equal([200, replaced]);
        });

        it(`is refused in bodies at ${path}`, async () => {
          const errors = ['gross', 'no'].map((name) => ({
            pointer: `/${name}`,
            code: 'readOnly',
            detail: `${name} cannot be set.`,
          }));
          await agent.post(path).send({ code: 'a', net: 5 });
          const given = { gross: 1, no: 2 };
          for (const sent of [
            agent.post(path).send({ code: 'b', net: 5, ...given }),
            agent.patch(`${path}/a`).send(given),
            agent.put(`${path}/a`).send({ net: 5, ...given }),
          ]) {
            const { status, body } = await sent;
            expect([status, body.errors]).to.deep.equal([422, errors]);
          }
          expect((await agent.patch(`${path}/a`).send({ net: 6 })).body.gross).to.equal(12);
        });
      }

      it('is what a hook says, where it says something', async () => {
        expect((await agent.post('/tasks').send({ code: 'a', net: 5, note: 'ranked' })).body.rank).to.equal(
          1,
        );
      });

      it('is the key of a new record', async () => {
        const made = await agent.post('/tokens').send({});
        expect([made.status, UUID.test(made.body.id), made.body.name]).to.deep.equal([
          201,
          true,
          'of the model',
        ]);
        expect((await agent.get(made.headers['location'] ?? '')).body).to.deep.equal(made.body);
        const id = '7b0a3e0c-0000-4000-8000-0000000000aa';
        expect((await agent.post('/tokens').send({ id })).body).to.deep.equal({ id, name: 'of the model' });
        expect((await agent.post('/tokens').send([{}, { name: 'b' }])).status).to.equal(201);
      });

      it('is the key of a new record, and no other', async () => {
        expect((await agent.post('/numbereds').send({})).body).to.deep.equal({ id: 1, name: null });
        const many = await agent.post('/numbereds').send([{ name: 'b' }, {}]);
        expect(many.body.items).to.deep.equal([
          { id: 2, name: 'b' },
          { id: 3, name: null },
        ]);
        const refused = await agent.post('/numbereds').send({ id: 7 });
        expect([refused.status, refused.body.errors[0].code]).to.deep.equal([422, 'readOnly']);
      });

      it('is left out of what a class of the user sends', async () => {
        const { agent: other } = await start(fastPath, { models: [Formed] });
        const { status, body } = await other.post('/formeds').send({ code: 'a', status: 'b', net: 5 });
        expect([status, body.rank, body.gross]).to.deep.equal([201, -3, 10]);
        const refused = await other.post('/formeds').send({ code: 'b', status: 'b', net: 5, gross: 1 });
        expect([refused.status, refused.body.errors[0].code]).to.deep.equal([422, 'readOnly']);
      });
    });
  }

  it('is in what a repository gives', async () => {
    await start(true);
    for (const [model, code] of [
      [Job, 'a'],
      [Task, 'b'],
    ] as const) {
      const { dataValues } = await new Repository<Work>(model as never).create({ code, net: 5 } as never);
      expect([dataValues.status, dataValues.rank, dataValues.gross]).to.deep.equal(["it's new", -3, 10]);
    }
  });

  it('[P4] is in the document', async () => {
    const { crud } = await start(true);
    const { schemas = {} } = crud.openapi().components ?? {};
    const create = schemas['JobCreate'] as { properties: object; required: string[] };
    expect(Object.keys(create.properties).join(' ')).to.equal('code status token rank open data note net');
    expect(create.required).to.deep.equal(['code', 'net']);
    expect(Object.keys((schemas['JobUpdate'] as typeof create).properties)).to.not.include('gross');
    expect(Object.keys((schemas['JobRead'] as typeof create).properties)).to.include('gross');
    expect((schemas['TokenCreate'] as typeof create).required).to.equal(undefined);
    expect(Object.keys((schemas['NumberedCreate'] as typeof create).properties)).to.deep.equal(['name']);
  });

  it('is no key that clients give', async () => {
    expect(await configError(() => buildApp({ models: [Put], logger: new CapturedLog() }))).to.equal(
      `Put: endpoints has 'replace', and the table "numbers" makes the key "id" of every new record by itself; say so in the model, as by autoIncrement: true, or leave it out.`,
    );
  });
});

/** Options that TypeScript may refuse; JavaScript does not. */
const wrong = (options: object) => options as CrudOptions;

const FILLED = ['code', 'state', 'changes'] as const;

/** A default of the model is written by no statement either. */
@Crud({
  endpoints: ['list', 'read', 'create', 'update', 'replace', 'createMany', 'updateMany'],
  readOnly: [...FILLED],
  filterAllow: ['code', 'changes'],
  sortAllow: ['id', 'code'],
})
@Table({ tableName: 'parcels', timestamps: false })
class Parcel extends KeyedRow {
  @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
  @Column({ type: DataType.STRING(20), allowNull: false }) declare code: string;
  @Column({ type: DataType.STRING(20), defaultValue: 'of the model' }) declare state: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 7 }) declare changes: number;
}

/** Refuses statements that write into the columns. */
const TABLE = `
  CREATE TABLE parcels (id int PRIMARY KEY, name text NOT NULL, code text NOT NULL, state text, changes int NOT NULL);
  CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
    IF TG_OP = 'INSERT' AND (NEW.code, NEW.state, NEW.changes) IS DISTINCT FROM (NULL, NULL, NULL)
      OR TG_OP = 'UPDATE' AND (NEW.code, NEW.state, NEW.changes) IS DISTINCT FROM (OLD.code, OLD.state, OLD.changes)
    THEN RAISE 'a statement wrote %', NEW; END IF;
    NEW.code := upper(NEW.name);
    NEW.changes := CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.changes + 1 END;
    RETURN NEW;
  END $f$;
  CREATE TRIGGER filling BEFORE INSERT OR UPDATE ON parcels FOR EACH ROW EXECUTE FUNCTION fill()`;

except(OF_MANY).describe('a column that only the table fills', () => {
  const { apps, query } = serveTables(TABLE, [Parcel]);
  const shown = (id: number, name: string, changes: number) => ({
    id,
    name,
    code: name.toUpperCase(),
    state: null,
    changes,
  });

  beforeEach(() => query('TRUNCATE parcels'));

  it('is shown as the table made it, by every write', async () => {
    for (const { agent } of apps) {
      await query('TRUNCATE parcels');
      expectJson(await agent.post('/parcels').send({ id: 1, name: 'a' }), 201, shown(1, 'a', 0));
      expectJson(await agent.patch('/parcels/1').send({ name: 'b' }), 200, shown(1, 'b', 1));
      expectJson(await agent.put('/parcels/1').send({ name: 'c' }), 200, shown(1, 'c', 2));
      expectJson(await agent.put('/parcels/2').send({ name: 'd' }), 201, shown(2, 'd', 0));
      expectJson(await agent.post('/parcels').send([{ id: 3, name: 'e' }]), 201, {
        items: [shown(3, 'e', 0)],
      });
      expectJson(await agent.patch('/parcels').send([{ id: 3, name: 'f' }]), 200, {
        items: [shown(3, 'f', 1)],
      });
      expectJson(await agent.get('/parcels/1'), 200, shown(1, 'c', 2));
      const found = await agent.get('/parcels?q=changes>0&sort=-code');
      expect(found.body.items).to.deep.equal([shown(3, 'f', 1), shown(1, 'c', 2)]);
    }
  });

  it('is in no body', async () => {
    for (const { agent, crud } of apps) {
      await agent.post('/parcels').send({ id: 1, name: 'a' });
      const values = { code: 'x', state: null, changes: 1 };
      const errors = (at = '') =>
        FILLED.map((name) => ({
          pointer: `${at}/${name}`,
          code: 'readOnly',
          detail: `${name} cannot be set.`,
        }));
      for (const [request, at] of [
        [agent.post('/parcels').send({ id: 9, name: 'a', ...values }), ''],
        [agent.patch('/parcels/1').send(values), ''],
        [agent.put('/parcels/1').send({ name: 'a', ...values }), ''],
        [agent.post('/parcels').send([{ id: 9, name: 'a', ...values }]), '/0'],
        [agent.patch('/parcels').send([{ id: 1, ...values }]), '/0'],
      ] as const) {
        const answer = await request;
        expectProblem(answer, 422, { detail: answer.body.detail, errors: errors(at) });
      }
      const { schemas } = crud.openapi().components;
      expect(Object.keys(schemas['ParcelCreate']?.properties ?? {})).to.deep.equal(['id', 'name']);
      expect(schemas['ParcelUpdate']?.properties).to.have.all.keys('name');
      expect(schemas['ParcelRead']?.properties).to.include.all.keys(...FILLED);
    }
  });

  it('is written by no repository either', async () => {
    const parcels = new Repository(Parcel);
    expect((await parcels.create({ id: 1, name: 'a' })).get()).to.deep.equal(shown(1, 'a', 0));
    expect((await parcels.update(1, { name: 'b' })).get()).to.deep.equal(shown(1, 'b', 1));
  });

  it('is refused where it is none', async () => {
    const cases: readonly (readonly [CrudOptions, string])[] = [
      [
        wrong({ readOnly: ['nmae'] }),
        "readOnly names 'nmae', which is not an attribute. Did you mean 'name'? The attributes are id, name, tenant, updatedAt.",
      ],
      [
        { readOnly: true, endpoints: ['list', 'create'] },
        "readOnly is true, and endpoints has 'create', which writes; remove one of the two.",
      ],
      [
        wrong({ readOnly: 'name' }),
        'readOnly is "name"; use true, or a list of attributes that only the table fills.',
      ],
      [
        { readOnly: ['updatedAt'] },
        "readOnly names 'updatedAt', which Sequelize writes; leave it out, as no body may set it, or turn it off in @Table (such as " +
          'updatedAt: false) and declare the attribute with @Column, so that only the table writes it.',
      ],
      [
        { readOnly: ['tenant'], scope: { tenant: () => 1 } },
        "readOnly names 'tenant', which scope sets in new records; remove one of the two.",
      ],
      [
        { readOnly: ['name'], fields: { name: { write: false } } },
        "readOnly names 'name', and fields has a rule for writing it; remove one of the two.",
      ],
      [
        { readOnly: ['name'], set: { name: () => 'x' } },
        "set names 'name', which no request writes; use an attribute with a value of its own.",
      ],
    ];
    for (const [options, problem] of cases) {
      class Wrong extends NumberedRow {
        @Column({ type: DataType.STRING(20), allowNull: false }) declare name: string;
        @Column(DataType.INTEGER) declare tenant: number;
        @Column(DataType.DATE) declare updatedAt: Date;
      }
      Table({ tableName: 'wrong', createdAt: false })(Wrong);
      Crud(options)(Wrong);
      expect(problemsOf(attach(Wrong as ModelCtor) as ModelClass, options)).to.deep.equal([
        `Wrong: ${problem}`,
      ]);
    }
    const elsewhere = await caughtError(async () => crudRouter(Parcel, { readOnly: ['name'] }));
    expect(Object(elsewhere).problems).to.deep.equal([
      'Parcel: readOnly is another one than in @Crud of the model, and is a fact of its table; write it there alone.',
    ]);
  });
});
