/** Imports inside of the rules of single requests: access, keys of others, versions, deleted rows, hooks and methods of the user's. */
import { expect } from 'chai';
import type { Request } from 'express';
import { BeforeCreate, BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  filter,
  InvalidBodyError,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { buildApp } from '../../support/build-app.js';
import { except, OF_MANY, onPath } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { emptyTables } from '../../support/empty-tables.js';
import { attach } from '../../support/offline-models.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp } from '../../support/test-app.js';

const tenant = (request: Request) => request.get('tenant');
const user = (request: Request) => request.get('user') ?? 'ann';

@Crud({ scope: { tenant } })
@Table({ tableName: 'lands', timestamps: false })
class Land extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
}

@Crud({
  import: { modes: ['create', 'update', 'upsert'] },
  upsert: [['code']],
  scope: { tenant },
  can: {
    create: (request) => request.get('role') !== 'reader',
    update: (request) => filter`author==${user(request)}`,
    import: (request) => request.get('role') !== 'guest',
  },
  fields: { secret: { write: (request) => request.get('role') === 'staff' } },
  set: { author: user },
})
@Table({ tableName: 'towns', createdAt: false, updatedAt: false, paranoid: true, version: true })
class Town extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string;
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare code: string;
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.TEXT) declare secret: string | null;
  @Column(DataType.TEXT) declare author: string | null;
  @ForeignKey(() => Land) @Column(DataType.INTEGER) declare landId: number | null;
  @BelongsTo(() => Land) declare land?: Land;
}

@Crud({ import: { modes: ['create', 'upsert'] }, upsert: [['code']] })
@Table({ tableName: 'hooked', timestamps: false })
class Hooked extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare code: string;
  @Column(DataType.TEXT) declare name: string | null;
  @BeforeCreate static mark(record: Hooked) {
    record.name = `${record.name}!`;
  }
}

class HookedController extends crudController(Hooked) {
  override async create(values: CreateValues<Hooked>, context: CrudContext<Hooked>) {
    if (values.name === 'banned')
      throw new InvalidBodyError([{ pointer: '/name', code: 'banned', detail: 'This name is banned.' }]);
    return super.create(values, context);
  }
}

except(OF_MANY).describe('importing within the rules', () => {
  const site = serveTestApp(() => ({
    models: [Land, Town, Hooked],
    bootstrap: { controllers: [HookedController] },
  }));
  const send = (
    file: string,
    mode: string,
    headers: Readonly<Record<string, string>> = {},
    path = 'towns',
  ): Promise<Response> =>
    site.agent
      .post(`/${path}/import?mode=${mode}`)
      .set({ 'Content-Type': 'text/csv', tenant: 'a', ...headers })
      .send(file) as never;
  const counts = async (answer: Promise<Response>) => {
    const { status, body } = await answer;
    return [status, body.created, body.updated, body.failed ?? body.errors ?? body.detail];
  };
  const refusals = async (answer: Promise<Response>) => {
    const { status, body } = await answer;
    return [
      status,
      ...(body.errors ?? []).map(({ row, pointer, code }: Record<string, unknown>) => [row, pointer, code]),
    ];
  };
  const towns = async () => {
    const rows = await Town.findAll({ order: ['id'], paranoid: false });
    return rows.map(({ tenant: of, code, name, secret, author, landId, version }) =>
      [of, code, name, secret, author, landId, version].join(),
    );
  };

  beforeEach(async () => {
    await emptyTables(site, 'towns', 'lands', 'hooked');
    await Land.bulkCreate([{ tenant: 'a' }, { tenant: 'b' }]);
    const own = { tenant: 'a', author: 'ann' };
    await Town.bulkCreate([
      { ...own, code: 'x' },
      { ...own, code: 'y', author: 'bob' },
      { ...own, code: 'z', tenant: 'b' },
      { ...own, code: 'd', deletedAt: new Date() },
    ]);
  });

  it('asks the rules of imports and of their mode', async () => {
    const file = 'code\nn\n';
    for (const [mode, role, status] of [
      ['create', 'guest', 403],
      ['create', 'reader', 403],
      ['upsert', 'reader', 403],
      ['create', 'clerk', 200],
    ] as const)
      expect((await send(file, mode, { role })).status, `${mode} ${role}`).to.equal(status);
    expect((await send('id,name\n1,n\n', 'update', { role: 'reader' })).status).to.equal(200);
  });

  it('refuses columns that the request may not set, before any row', async () => {
    expect(await refusals(send('code,secret,author,tenant,version\nn,1,2,3,4\n', 'create'))).to.deep.equal([
      400,
      ...['secret', 'author', 'tenant', 'version'].map((name) => [undefined, `/${name}`, 'readOnly']),
    ]);
    expect(await counts(send('code,secret\nn,1\n', 'create', { role: 'staff' }))).to.deep.equal([
      200, 1, 0, 0,
    ]);
    expect((await towns()).at(-1)).to.equal('a,n,,1,ann,,0');
  });

  it('creates in the scope, with references into it alone', async () => {
    expect(await counts(send('code,landId\nm,1\nn,\n', 'create'))).to.deep.equal([200, 2, 0, 0]);
    expect((await towns()).slice(4)).to.deep.equal(['a,m,,,ann,1,0', 'a,n,,,ann,,0']);
    expect(await refusals(send('code,landId\no,1\np,2\nq,99\nz,\n', 'create'))).to.deep.equal([
      422,
      [2, '/landId', 'foreignKey'],
      [3, '/landId', 'foreignKey'],
      [4, '/code', 'unique'],
    ]);
    expect(await towns()).to.have.length(6);
  });

  it('changes rows that the request may change, in the version that they have', async () => {
    expect(await counts(send('id,name,version\n1,new,0\n', 'update'))).to.deep.equal([200, 0, 1, 0]);
    const before = await towns();
    expect(before[0]).to.equal('a,x,new,,ann,,1');
    expect(await refusals(send('id,name,version\n1,n,0\n2,n,0\n3,n,0\n4,n,0\n', 'update'))).to.deep.equal([
      422,
      [1, '', 'changed'],
      [2, '', 'forbidden'],
      [3, '', 'notFound'],
      [4, '', 'notFound'],
    ]);
    expect(await towns()).to.deep.equal(before);
  });

  it('upserts by a key, and leaves the rows of others', async () => {
    expect(await counts(send('name,code\nnew,x\nmade,n\n', 'upsert&on=code'))).to.deep.equal([200, 1, 1, 0]);
    const before = await towns();
    expect([before[0], before.at(-1)]).to.deep.equal(['a,x,new,,ann,,1', 'a,n,made,,ann,,0']);
    expect(await refusals(send('code,name\ny,1\nz,1\nd,1\nx,1\nx,2\n', 'upsert'))).to.deep.equal([
      422,
      [5, '/code', 'repeated'],
    ]);
    expect(await refusals(send('code,name\ny,1\nz,1\nd,1\nx,1\n', 'upsert'))).to.deep.equal([
      422,
      [1, '', 'forbidden'],
      [2, '/code', 'unique'],
      [3, '/code', 'unique'],
    ]);
    // One land is of another tenant, and one of no tenant.
    expect(await refusals(send('code,landId\nx,1\nn,2\nx2,1\nn2,99\n', 'upsert'))).to.deep.equal([
      422,
      [2, '/landId', 'foreignKey'],
      [4, '/landId', 'foreignKey'],
    ]);
    expect(await refusals(send('code,landId\nx,2\n', 'upsert'))).to.deep.equal([
      422,
      [1, '/landId', 'foreignKey'],
    ]);
    expect(await towns()).to.deep.equal(before);
    const { body } = await send('code\nx\n', 'upsert&on=name');
    expect(body.errors.map(({ code }: { code: string }) => code)).to.deep.equal(['on.unknown']);
    const other = await send('code\nx\n', 'create&on=code');
    expect(other.body.errors.map(({ code }: { code: string }) => code)).to.deep.equal(['exclusive']);
  });

  it('calls hooks and methods for each row', async () => {
    const answer = await send('code,name\na,x\nb,banned\nc,y\n', 'create', {}, 'hookeds');
    expect([answer.status, answer.body.errors]).to.deep.equal([
      422,
      [{ row: 2, line: 3, pointer: '/name', code: 'banned', detail: 'This name is banned.' }],
    ]);
    expect(await Hooked.count()).to.equal(0);
    expect(await counts(send('code,name\na,x\nc,y\n', 'create', {}, 'hookeds'))).to.deep.equal([
      200, 2, 0, 0,
    ]);
    expect(await counts(send('code,name\na,z\nd,y\n', 'upsert', {}, 'hookeds'))).to.deep.equal([
      200, 1, 1, 0,
    ]);
    const rows = await Hooked.findAll({ order: ['id'] });
    expect(rows.map(({ code, name }) => `${code} ${name}`)).to.deep.equal(['a z', 'c y!', 'd y!']);
  });

  it('is in the document', async () => {
    const { body } = await site.agent.get('/openapi.json');
    const { parameters, requestBody, responses } = body.paths['/towns/import'].post;
    expect(parameters.map(({ name }: { name: string }) => name)).to.deep.equal([
      'on',
      'mode',
      'atomic',
      'dry_run',
      'delimiter',
    ]);
    expect(Object.keys(requestBody.content)).to.deep.equal(['text/csv', 'application/x-ndjson']);
    expect(Object.keys(responses)).to.include.members([
      '200',
      '207',
      '400',
      '403',
      '408',
      '413',
      '422',
      '503',
    ]);
    expect(body.components.schemas['ImportResult'].required).to.deep.equal([
      'rows',
      'created',
      'updated',
      'failed',
      'errors',
      'errors_shown',
    ]);
  });

  it('refuses options that do not fit', async () => {
    const told = (options: object) => {
      @Crud(options)
      @Table({ tableName: 'lands', timestamps: false })
      class Other extends NumberedRow {}
      return configProblems(() => buildApp({ models: [attach(Other)] }));
    };
    for (const [options, problem] of [
      [{ import: true }, "import is true; use an object such as { modes: ['create'] }."],
      [{ import: { modes: ['merge'] } }, "use a list of 'create', 'update', 'upsert'."],
      [{ import: { maxbytes: 1 } }, "import has no option 'maxbytes'"],
      [{ import: { maxBytes: '10k' } }, 'import.maxBytes is "10k"; use a number of bytes from 1'],
      [{ import: { modes: ['create', 'create'] } }, "import.modes names 'create' twice; name it once."],
      [{ import: { maxRows: 0 } }, 'import.maxRows is 0; use an integer from 1.'],
      [{ import: { modes: ['upsert'] } }, "import.modes has 'upsert', and no option upsert names its keys"],
      [{ import: {}, readOnly: true }, 'readOnly is true, and import writes; remove one of the two.'],
    ] as const)
      expect((await told(options)).join()).to.include(problem);
  });
});

except(OF_MANY).describe('an import into a table with triggers', () => {
  const marked = served(
    'marked',
    { code: { type: DataType.TEXT, unique: true }, size: DataType.INTEGER, mark: DataType.TEXT },
    { crud: { import: { modes: ['create', 'update', 'upsert'] }, upsert: [['code']] } },
  );
  const { apps, query } = serveTables(
    `CREATE TABLE marked (id serial PRIMARY KEY, code text UNIQUE, size int, mark text);
     CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.mark := TG_OP || NEW.size; RETURN NEW; END';
     CREATE FUNCTION widen() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN UPDATE marked SET size = NEW.size + 1 WHERE id = NEW.id; RETURN NULL; END';
     CREATE TRIGGER mark BEFORE INSERT OR UPDATE ON marked FOR EACH ROW EXECUTE FUNCTION mark();
     CREATE TRIGGER widen AFTER UPDATE ON marked FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION widen()`,
    [marked],
  );
  const send = async (at: number, mode: string, file: string) => {
    const agent = (apps[at] as (typeof apps)[number]).agent;
    const path = `/marked/import?mode=${mode}`;
    return (await agent.post(path).set('Content-Type', 'text/csv').send(file)).body;
  };
  const lines = (head: string, from: number, line: (n: number) => string) =>
    `${head}\n${Array.from({ length: 20 }, (_, n) => `${line(n + from)}\n`).join('')}`;

  for (const at of [0, 1])
    it(`stores what they make of each row, on ${at === 0 ? 'the fast path' : 'the general path'}`, async () => {
      await query('TRUNCATE marked RESTART IDENTITY');
      expect(
        await send(
          at,
          'create',
          lines('code,size', 1, (n) => `c${n},${n}`),
        ),
      ).to.include({ created: 20 });
      // One statement has written them, where no override does.
      if (at === 0 && onPath({ fast: true, records: false }))
        expect(await query('SELECT count(DISTINCT cmin::text) AS statements FROM marked')).to.deep.equal([
          { statements: '1' },
        ]);
      expect(await query('SELECT mark, size FROM marked WHERE id = 7')).to.deep.equal([
        { mark: 'INSERT7', size: 7 },
      ]);
      expect(
        await send(
          at,
          'update',
          lines('id,size', 1, (n) => `${n},${n + 50}`),
        ),
      ).to.include({ updated: 20 });
      expect(await query('SELECT mark, size FROM marked WHERE id = 7')).to.deep.equal([
        { mark: 'UPDATE58', size: 58 },
      ]);
      const both = await send(
        at,
        'upsert',
        lines('code,size', 11, (n) => `c${n},${n}`),
      );
      expect(both).to.include({ created: 10, updated: 10, failed: 0 });
      expect(
        await query("SELECT mark, size FROM marked WHERE code IN ('c11', 'c30') ORDER BY id"),
      ).to.deep.equal([
        { mark: 'UPDATE12', size: 12 },
        { mark: 'INSERT30', size: 30 },
      ]);
    });
});
