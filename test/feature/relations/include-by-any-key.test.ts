/** Relations by keys of every type, and keys that lead to no row. */
// @runs fast
import { expect } from 'chai';
import { type DataType as AnyType, DataTypes } from 'sequelize';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Model, Table } from 'sequelize-typescript';
import { type Class, Crud, crudController, type ModelClass } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

/** A type of a key, with the values of two rows of the target, as a body writes them. */
interface Key {
  readonly title: string;
  readonly type: string;
  readonly keys: readonly [string | number, string | number];
  /** The first key in the syntax of the child's type. Default: as it is. */
  readonly named?: string | number;
  /** The column of the child. Default: that of the key. */
  readonly childType?: string;
  readonly sql?: string;
  /** A key of a child that leads to no row. Default: NULL. */
  readonly nowhere?: string;
  /** The key is unique, and another attribute is the primary key. */
  readonly isOther?: boolean;
}

const UUID = '3fa85f64-5717-4562-b3fc-2c963f66afa6';
const KEYS: readonly Key[] = [
  { title: 'integer', type: 'INTEGER', keys: [-1, 2] },
  { title: 'bigint', type: 'BIGINT', keys: ['9007199254740993', '9007199254740992'] },
  { title: 'text', type: 'TEXT', keys: ['{"a\\,\'$1}', ' NULL'] },
  { title: 'empty', type: 'TEXT', keys: ['', 'null'] },
  { title: 'char', type: 'CHAR(5)', keys: ['fr', 'FR'] },
  { title: 'citext', type: 'CITEXT', keys: ['Fra', 'Ita'], named: 'fRA' },
  {
    title: 'decimal',
    type: 'DECIMAL(12,3)',
    keys: ['1.500', '1.501'],
    childType: 'DECIMAL',
    named: '1.5',
    isOther: true,
  },
  { title: 'uuid', type: 'UUID', keys: [UUID, UUID.replace('3', '4')], named: UUID.toUpperCase() },
  { title: 'dateonly', type: 'DATE', keys: ['2026-01-31', '0044-03-15'], isOther: true },
  {
    title: 'enum',
    type: 'mood',
    keys: ['so, so', 'glad'],
    sql: `CREATE TYPE mood AS ENUM ('glad', 'so, so')`,
  },
  {
    title: 'domain',
    type: 'code',
    keys: ['ab', 'cd'],
    sql: `CREATE DOMAIN code AS VARCHAR(3) CHECK (length(VALUE) > 1)`,
  },
  { title: 'collated', type: 'TEXT COLLATE nocase', keys: ['Oslo', 'Rome'], named: 'oslO' },
  { title: 'narrower', type: 'INTEGER', childType: 'BIGINT', keys: [-7, 0], nowhere: '9007199254740993' },
  { title: 'wider', type: 'BIGINT', childType: 'INTEGER', keys: ['7', '8'] },
  { title: 'real', type: 'REAL', keys: [0.1, 1e20], isOther: true },
  { title: 'unique', type: 'TEXT', keys: ['x', 'y'], isOther: true },
];

const TYPES: Readonly<Record<string, AnyType>> = {
  INTEGER: DataTypes.INTEGER,
  BIGINT: DataTypes.BIGINT,
  CITEXT: DataTypes.CITEXT,
  UUID: DataTypes.UUID,
  REAL: DataTypes.REAL,
  DATE: DataTypes.DATEONLY,
  DECIMAL: DataTypes.DECIMAL,
  'CHAR(5)': DataTypes.CHAR(5),
  'DECIMAL(12,3)': DataTypes.DECIMAL(12, 3),
  mood: DataTypes.ENUM('glad', 'so, so'),
};
const typeOf = (type: string): AnyType => TYPES[type] ?? DataTypes.TEXT;

/** Two tables that have a key of one type. */
function declare({ title, type, childType = type, isOther = false }: Key) {
  class Target extends Model {}
  class Child extends Model {}
  const [target, child] = [Target, Child] as unknown as ModelClass[] as [ModelClass, ModelClass];
  const key = { foreignKey: 'code', constraints: false } as const;
  if (isOther) Column({ type: DataTypes.INTEGER, primaryKey: true })(Target.prototype, 'id');
  const column = { type: typeOf(type), field: 'the Key' };
  Column(isOther ? { ...column, unique: true } : { ...column, primaryKey: true })(Target.prototype, 'code');
  HasMany(() => Child, { ...key, sourceKey: 'code' })(Target.prototype, 'many');
  Column({ type: DataTypes.INTEGER, primaryKey: true })(Child.prototype, 'id');
  Column({ type: typeOf(childType), field: 'Of key' })(Child.prototype, 'code');
  BelongsTo(() => Target, { ...key, targetKey: 'code' })(Child.prototype, 'one');
  const place = { schema: 'The Keys', timestamps: false };
  Table({ ...place, modelName: `${title}.target`, tableName: `${title} targets` })(Target);
  Table({ ...place, modelName: `${title}.child`, tableName: `${title}.children` })(Child);
  Crud({ prefix: `/${title}-targets`, include: { many: UNGUARDED } })(target);
  Crud({ prefix: `/${title}-children`, include: { one: UNGUARDED } })(child);
  return { target, child };
}

describe('including by a key of any type', () => {
  const declared = KEYS.map((key) => ({ ...key, ...declare(key) }));
  const log = new CapturedLog();
  const site = serveTestApp(() => {
    const models = declared.flatMap(({ target, child }) => [target, child]);
    return {
      models,
      engine: { createAll: false },
      bootstrap: { logger: log },
    };
  });

  const items = async (path: string): Promise<{ one: unknown; many: unknown; code: unknown }[]> => {
    const { status, body } = await site.agent.get(path);
    expect(status, log.text).to.equal(200);
    return body.items;
  };

  before(async () => {
    const statements = declared.flatMap(
      ({
        title,
        type,
        childType = type,
        keys: [first, second],
        named = first,
        sql = '',
        isOther = false,
        nowhere,
      }) => {
        const tables = [`"The Keys"."${title} targets"`, `"The Keys"."${title}.children"`];
        const literal = (key: string | number) => `'${String(key).replaceAll("'", "''")}'`;
        const rows = [first, second].map((key, index) => `(${isOther ? `${index}, ` : ''}${literal(key)})`);
        return [
          sql,
          `CREATE TABLE ${tables[0]} (${isOther ? 'id INTEGER PRIMARY KEY, ' : ''}"the Key" ${type} ${isOther ? 'UNIQUE' : 'PRIMARY KEY'})`,
          `CREATE TABLE ${tables[1]} (id INTEGER PRIMARY KEY, "Of key" ${childType})`,
          `INSERT INTO ${tables[0]} VALUES ${rows}`,
          `INSERT INTO ${tables[1]} VALUES (1, ${literal(named)}), (2, ${literal(first)}), (3, ${nowhere ?? 'NULL'})`,
        ];
      },
    );
    await site.engine.sequelize.query(`
      CREATE EXTENSION citext; CREATE SCHEMA "The Keys";
      CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      ${statements.join(';')}`);
  });

  for (const { title, keys } of declared) {
    it(`[R2 R3 R5] finds one, and many, by ${title}`, async () => {
      const [first, second] = keys;
      const children = await items(`/${title}-children?include=one&fields=id&one.fields=code`);
      expect(children).to.deep.equal([
        { id: 1, one: { code: first } },
        { id: 2, one: { code: first } },
        { id: 3, one: null },
      ]);
      const targets = await items(`/${title}-targets?include=many&many.fields=id&fields=code`);
      expect(new Map(targets.map(({ code, many }) => [code, many]))).to.deep.equal(
        new Map([
          [first, { items: [{ id: 1 }, { id: 2 }], has_next: false }],
          [second, { items: [], has_next: false }],
        ]),
      );
    });
  }
});

@Crud()
@Table({ tableName: 'shelves', timestamps: false })
class Shelf extends KeyedRow {
  @Column(DataType.TEXT) declare name: string;
}

@Crud({ include: { shelf: UNGUARDED } } as object)
@Table({ tableName: 'books', timestamps: false })
class Book extends KeyedRow {
  /** Wider than the key that it refers to. */
  @ForeignKey(() => Shelf) @Column(DataType.BIGINT) declare shelfId: string | null;
  @BelongsTo(() => Shelf, { foreignKey: 'shelfId', constraints: false }) declare shelf?: Shelf | null;
}

/** Answers with the key in another form of the same number. */
class TypedBooks extends crudController(Book) {
  override async read(): Promise<Book> {
    return { id: 1, shelfId: '+007' } as unknown as Book;
  }
}

describe('including one record by a key that the database takes for equal', () => {
  const models = [Shelf, Book];

  async function expectMaps(controllers: readonly Class[], change: string, rows: readonly object[]) {
    const bootstrap = { logger: new CapturedLog(), models, controllers };
    await using site = await startTestApp({ models, bootstrap });
    await Shelf.sequelize?.query(change);
    await Shelf.create({ id: 7, name: 'Maps' } as never);
    await Book.bulkCreate(rows as never);
    const { body } = await site.agent.get('/books/1?include=shelf&shelf.fields=name').expect(200);
    expect(body.shelf).to.deep.equal({ name: 'Maps' });
  }

  it('finds it where the column is none of the type of the model', () =>
    expectMaps([], 'ALTER TABLE shelves ALTER id TYPE numeric(9, 2)', [{ id: 1, shelfId: '7' }]));

  it('finds it where code of the user has written the key', () => expectMaps([TypedBooks], 'SELECT 1', []));
});
