/** A scope holds for every kind of key, column and model, for its rows and for references to them. */
// @runs fast
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import type { Request } from 'express';
import { type DataType as AnyType, DataTypes, type ModelAttributeColumnOptions } from 'sequelize';
import { BelongsTo, Column, ForeignKey, Model, Table, type TableOptions } from 'sequelize-typescript';
import { quotedTable } from '../../../src/execute/sql/sql-fragment.js';
import { Crud, type CrudOptions, filter, type ModelClass } from '../../../src/index.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { TwoPaths } from '../../support/two-paths.js';

/** A model, and the values of two rows: the first is of the request's tenant. */
interface Specimen {
  readonly title: string;
  readonly keyType: AnyType;
  readonly scopeType: AnyType;
  readonly keys: readonly [unknown, unknown, unknown];
  /** As the application sets it, as a body names it, and that of the other tenant. */
  readonly scopes: readonly [given: unknown, own: unknown, other: unknown];
  readonly options?: TableOptions;
  readonly field?: string;
  readonly sql?: (table: string) => string;
  /** Options about the attributes `mark` and `lock`, which no answer has. */
  readonly crud?: Pick<CrudOptions, 'softDelete' | 'etag'>;
}

const UUIDS = ['a', 'b', 'c'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
const [A = '', B = '', C = ''] = UUIDS;
const INTEGERS = { keyType: DataTypes.INTEGER, keys: [1, 2, 3] } as const;
const PLAIN = { ...INTEGERS, scopeType: DataTypes.INTEGER, scopes: [1, 1, 2] } as const;
const ofOne = (type: AnyType) => ({ keyType: type, scopeType: type });

const SPECIMENS: readonly Specimen[] = [
  {
    title: 'bigint',
    ...ofOne(DataTypes.BIGINT),
    keys: ['9007199254740993', '9007199254740994', '5'],
    scopes: [9007199254740993n, '9007199254740993', '9007199254740992'],
  },
  { title: 'uuid', ...ofOne(DataTypes.UUID), keys: [A, B, C], scopes: [C.toUpperCase(), C, B] },
  { title: 'string', ...ofOne(DataTypes.STRING), keys: ["o'a", 'b$1', 'c'], scopes: [42, '42', "4'2"] },
  { title: 'integer as text', ...PLAIN, scopes: ['7', 7, 8] },
  { title: 'enum', ...INTEGERS, scopeType: DataTypes.ENUM('eu', 'us'), scopes: ['eu', 'eu', 'us'] },
  { title: 'decimal', ...INTEGERS, scopeType: DataTypes.DECIMAL(10, 2), scopes: ['1.50', '1.50', '2.50'] },
  { title: 'boolean', ...INTEGERS, scopeType: DataTypes.BOOLEAN, scopes: [true, true, false] },
  {
    title: 'date',
    ...INTEGERS,
    scopeType: DataTypes.DATE,
    scopes: [new Date(86_400_000), '1970-01-02T00:00:00.000Z', '1970-01-03T00:00:00.000Z'],
  },
  {
    title: 'dateonly',
    ...INTEGERS,
    scopeType: DataTypes.DATEONLY,
    scopes: ['1970-01-02', '1970-01-02', '1970-01-03'],
  },
  { title: 'schema', ...PLAIN, options: { schema: 'some where', tableName: 'Odd rows' }, field: 'tenant id' },
  {
    title: 'odd name',
    ...PLAIN,
    options: { modelName: 'Größe "x" 1.5', name: { singular: 'size', plural: 'sizes' } },
  },
  {
    title: 'paranoid',
    ...PLAIN,
    options: { paranoid: true, timestamps: true, createdAt: false, updatedAt: false },
  },
  {
    title: 'mark and lock',
    ...PLAIN,
    crud: { softDelete: { attribute: 'mark', deleted: 'gone', alive: 'there' }, etag: { attribute: 'lock' } },
  },
  { title: 'versioned', ...PLAIN, options: { version: true } },
  {
    title: 'trigger',
    ...PLAIN,
    sql: (table) => `
      CREATE FUNCTION ignore() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER late AFTER UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION ignore();`,
  },
];

/** Columns beside a foreign key: a statement with a condition casts each parameter to the type of its column, too. */
const OTHER_COLUMNS: Readonly<Record<string, AnyType>> = {
  data: DataTypes.JSONB,
  tags: DataTypes.ARRAY(DataTypes.TEXT),
  moment: DataTypes.DATE,
  price: DataTypes.DECIMAL(10, 2),
  isOpen: DataTypes.BOOLEAN,
  state: DataTypes.ENUM('on', 'off'),
  bytes: DataTypes.BLOB,
};
const OTHER_VALUES = {
  data: { a: [1, '$1'] },
  tags: ['x', 'y"'],
  moment: '2026-01-31T08:00:00.000Z',
  price: '1.50',
  isOpen: true,
  state: 'on',
  bytes: 'AAE=',
};

const acting = (given: unknown) => (request: Request) =>
  (request.get('as') === 'several' ? [given] : given) as string;

/** A model with a scope, and one that refers to it. */
function declare({ title, keyType, scopeType, scopes, options, field, crud }: Specimen) {
  const name = `${title.replace(/\W/g, '')}s`;
  const column = (type: AnyType, more: Partial<ModelAttributeColumnOptions> = {}) =>
    Column({ type, ...more });
  class Parent extends Model {
    declare id: string;
    declare tenantId: string;
    declare text: string;
  }
  column(keyType, { primaryKey: true })(Parent.prototype, 'id');
  column(scopeType, { allowNull: false, ...(field ? { field } : {}) })(Parent.prototype, 'tenantId');
  column(DataTypes.TEXT)(Parent.prototype, 'text');
  const { TEXT: mark, INTEGER: lock } = DataTypes;
  for (const [name, type] of Object.entries(crud ? { mark, lock } : {})) {
    column(type)(Parent.prototype, name);
    Exclude()(Parent.prototype, name);
  }
  Table({ modelName: `Parent_${name}`, tableName: name, timestamps: false, ...options })(Parent);
  Crud({ ...crud, prefix: `/${name}`, scope: { tenantId: acting(scopes[0]) } as object })(Parent);
  class Child extends Model {}
  column(DataTypes.STRING, { primaryKey: true })(Child.prototype, 'id');
  const { schema, tableName = name } = options ?? {};
  const table = schema ? { schema, tableName } : tableName;
  const references = { model: table as string, key: 'id' };
  column(keyType, { field: 'parent_id', references })(Child.prototype, 'parentId');
  for (const [attribute, type] of Object.entries(OTHER_COLUMNS)) column(type)(Child.prototype, attribute);
  Table({ modelName: `Child_${name}`, tableName: `${name}_of`, timestamps: false })(Child);
  Crud({ prefix: `/${name}-of` })(Child);
  return { name, Parent: Parent as unknown as ModelClass, Child: Child as unknown as ModelClass };
}

describe('a scope of any model', () => {
  const declared = SPECIMENS.map((specimen) => ({ ...specimen, ...declare(specimen) }));
  const paths = forSuite(() =>
    TwoPaths.start({
      models: declared.flatMap(({ Parent, Child }) => [Parent, Child]),
      engine: { createAll: false },
      bootstrap: { logger: new CapturedLog() },
    }),
  );

  before(async () => {
    await paths.site.engine.sequelize.query('CREATE SCHEMA "some where"');
    await paths.site.engine.sequelize.sync({ useMaster: true } as never);
    for (const { sql, name } of declared) if (sql) await paths.site.engine.sequelize.query(sql(name));
  });

  for (const [index, { title, name, Parent, keys, scopes }] of declared.entries()) {
    it(`[G4] holds for one with ${title}`, async () => {
      const [own, other, fresh] = keys;
      const [, mine, theirs] = scopes;
      const { sequelize } = paths.site.engine;
      const table = quotedTable(Parent);
      const columns = ['id', 'tenantId', 'text'].map((each) => `"${Parent.getAttributes()[each]?.field}"`);
      const values = [
        [own, mine, 'a'],
        [other, theirs, 'b'],
      ].map((row) => row.map((value) => `'${String(value).replaceAll("'", "''")}'`).join());
      const rows = values.map((row) => `(${row}${title === 'versioned' ? ', 0' : ''})`);
      const more = title === 'versioned' ? ', version' : '';
      const undo = () =>
        sequelize.query(`
          DELETE FROM "${name}_of"; DELETE FROM ${table};
          INSERT INTO ${table} (${columns}${more}) VALUES ${rows};
          INSERT INTO "${name}_of" (id) VALUES ('x')`);
      const ask = async (method: string, path: string, body?: object, as = 'one') => {
        await undo();
        const answer = await paths.same({ method, path, body, headers: { as } }, undo);
        return { status: answer.status, body: answer.body === '' ? {} : JSON.parse(answer.body) };
      };
      const at = (key: unknown) => `/${name}/${encodeURIComponent(String(key))}`;

      const { body: page } = await ask('GET', `/${name}`);
      expect(page.items.map(({ text }: { text: string }) => text)).to.deep.equal(['a']);
      expect(page.total).to.equal(1);
      // In short, each in one of the two ways.
      const ways = ['one', 'several'].filter((_, way) => wholeOr(way === index % 2, true));
      for (const as of ways) {
        const change = { text: 'x' };
        const missing = await ask('PATCH', at(fresh), change, as);
        expect(missing.status).to.equal(404);
        expect(await ask('PATCH', at(other), change, as)).to.deep.equal(missing);
        expect(await ask('GET', at(other), undefined, as)).to.deep.equal(missing);
        expect(await ask('DELETE', at(other), undefined, as)).to.deep.equal(missing);
        const { body: changed } = await ask('PATCH', at(own), change, as);
        expect(changed).to.include({ text: 'x', tenantId: mine });
        expect((await ask('DELETE', at(own), undefined, as)).status).to.equal(204);

        const created = { id: fresh, text: 'c', ...(as === 'one' ? {} : { tenantId: mine }) };
        expect((await ask('POST', `/${name}`, created, as)).body).to.include({ text: 'c', tenantId: mine });

        for (const [method, path, body] of [
          ['POST', `/${name}-of`, { id: 'y', ...OTHER_VALUES }],
          ['PATCH', `/${name}-of/x`, {}],
        ] as const) {
          const refer = (parentId: unknown) => ask(method, path, { ...body, parentId }, as);
          expect((await refer(own)).body).to.deep.include({ ...body, parentId: own });
          const refused = await refer(other);
          expect(refused.status).to.equal(409);
          expect(await refer(fresh)).to.deep.equal(refused);
        }
      }
      const foreign = { id: fresh, text: 'c', tenantId: theirs };
      expect((await ask('POST', `/${name}`, foreign, 'several')).status).to.equal(422);
    });
  }
});

@Crud({ scope: { id: (request) => request.get('user') }, filterAllow: ['name'] })
@Table({ tableName: 'users', timestamps: false })
class User extends Model {
  @Column({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column({ type: DataTypes.STRING, allowNull: false, unique: true }) declare name: string;
}

const textOfUser = (request: Request) => decodeURIComponent(request.get('user') ?? '');

@Crud({ scope: { owner: textOfUser } })
@Table({ tableName: 'chests', timestamps: false })
class Chest extends Model {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number;
  @Column({ type: DataTypes.TEXT, allowNull: false }) declare owner: string;
}

@Crud({ visible: (request) => filter`text==${textOfUser(request)}` })
@Table({ tableName: 'lids', timestamps: false })
class Lid extends Model {
  @Column({ type: DataTypes.INTEGER, primaryKey: true }) declare id: number;
  @Column({ type: DataTypes.TEXT }) declare text: string | null;
}

@Crud()
@Table({ tableName: 'letters', timestamps: false })
class Letter extends Model {
  @Column({ type: DataTypes.STRING, primaryKey: true }) declare id: string;

  @ForeignKey(() => User)
  @Column({ type: DataTypes.INTEGER, field: 'sender' })
  declare senderId: number;

  @BelongsTo(() => User, { constraints: false }) declare from?: User;
}

describe('a scope of the primary key', () => {
  const models = [User, Letter, Chest, Lid] as unknown as ModelClass[];
  const paths = forSuite(() => TwoPaths.start({ models, bootstrap: { logger: new CapturedLog() } }));

  const undo = () =>
    paths.site.engine.sequelize.query(`
      DELETE FROM letters; DELETE FROM users; INSERT INTO users VALUES (1, 'Ann'), (2, 'Bob')`);

  const ask = async (method: string, path: string, user: string, body?: object) => {
    await undo();
    const answer = await paths.same({ method, path, body, headers: { user } }, undo);
    return { status: answer.status, body: answer.body === '' ? {} : JSON.parse(answer.body) };
  };

  it('shows and changes the one row', async () => {
    expect((await ask('GET', '/users?q=name==Bob', '1')).body.total).to.equal(0);
    expect((await ask('GET', '/users', '1')).body.items).to.deep.equal([{ id: 1, name: 'Ann' }]);
    const { body: changed } = await ask('PATCH', '/users/1', '1', { name: 'Anna' });
    expect(changed).to.deep.equal({ id: 1, name: 'Anna' });
    expect((await ask('PATCH', '/users/2', '1', { name: 'Bobby' })).status).to.equal(404);
    expect((await ask('DELETE', '/users/2', '1')).status).to.equal(404);
    expect((await ask('DELETE', '/users/1', '1')).status).to.equal(204);
  });

  it('gives the new row its key', async () => {
    expect((await ask('POST', '/users', '3', { name: 'Cid' })).body).to.deep.equal({ id: 3, name: 'Cid' });
    expect((await ask('POST', '/users', '1', { name: 'Cid' })).status).to.equal(409);
    expect((await ask('POST', '/users', '3', { id: 4, name: 'Cid' })).status).to.equal(422);
  });

  it('answers a value that another tenant has with the index that refuses it', async () => {
    const refused = await ask('POST', '/users', '3', { name: 'Bob' });
    expect(refused.status).to.equal(409);
    expect(refused.body.errors[0]).to.include({ pointer: '/name', code: 'unique' });
    expect((await ask('PATCH', '/users/1', '1', { name: 'Bob' })).status).to.equal(409);
  });

  it('refuses the requests of a text that no column can have', async () => {
    const noAccess = 'This request has no access to Chest.';
    const refused = 'The database does not accept these values.';
    for (const [status, detail, method, path, body] of [
      [403, noAccess, 'GET', '/chests'],
      [403, noAccess, 'DELETE', '/chests/1'],
      [403, noAccess, 'POST', '/chests', { id: 1 }],
      [422, refused, 'GET', '/lids'],
      [422, refused, 'GET', '/lids/1'],
    ] as const)
      expect(await ask(method, path, 'a%00b', body), path).to.deep.equal({ status, body: { detail } });
  });

  it('holds for keys without a constraint', async () => {
    const send = (senderId: number) => ask('POST', '/letters', '1', { id: 'x', senderId });
    expect((await send(1)).status).to.equal(201);
    const refused = await send(2);
    expect(refused.status).to.equal(409);
    expect(await send(3)).to.deep.equal(refused);
  });
});
