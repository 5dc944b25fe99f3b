/** Code of models: types, defaults and options of columns, and texts of a database that could become code. */
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { docComment, quoted } from '../../../src/scaffold/code-text.js';
import { columnCode, constantDefault } from '../../../src/scaffold/column-code.js';
import { modelCode } from '../../../src/scaffold/model-code.js';
import type { ModelPlan } from '../../../src/scaffold/model-plan.js';
import { attributeOf, columnOf, indexOf, modelOf } from '../../support/model-plans.js';

const codeOf = (plan: ModelPlan, isWritable = false, others: readonly ModelPlan[] = []) =>
  modelCode(plan, { isWritable, models: new Map([plan, ...others].map((each) => [each.className, each])) });

/** The lines of the decorators above a class. */
const decoratorsOf = (plan: ModelPlan, isWritable = false) =>
  codeOf(plan, isWritable)
    .whole.split('\n')
    .filter((line) => line.startsWith('@'));

const TYPES: readonly (readonly [type: string, declared: string, field: string, isOrdered?: false])[] = [
  ['smallint', 'DataType.SMALLINT', 'number'],
  ['bigint', 'DataType.BIGINT', 'string'],
  ['numeric', 'DataType.DECIMAL', 'string'],
  ['numeric(10,2)', 'DataType.DECIMAL(10, 2)', 'string'],
  ['numeric(3,-2)', 'DataType.DECIMAL', 'string'],
  ['character varying', 'DataType.TEXT', 'string'],
  ['character varying(5)', 'DataType.STRING(5)', 'string'],
  ['character(5)', 'DataType.CHAR(5)', 'string'],
  ['public.citext', 'DataType.CITEXT', 'string'],
  ['timestamp(3) without time zone', 'DataType.DATE', 'Date'],
  ['time(3) with time zone', "'timetz'", 'string'],
  ['interval(3)', "'interval'", 'unknown'],
  ['bit(3)', "'bit(3)'", 'string'],
  ['bit varying(8)', "'bit varying(8)'", 'string'],
  ['int4range', "'int4range'", 'unknown'],
  ['int4multirange', "'int4multirange'", 'string'],
  ['"char"', `'"char"'`, 'string'],
  ['oid', "'oid'", 'number'],
  ['jsonb', 'DataType.JSONB', 'unknown', false],
  ['bytea', 'DataType.BLOB', 'Buffer', false],
  ['xml', "'xml'", 'string', false],
  ['shop.hstore', "'hstore'", 'unknown', false],
  ['regclass', "'regclass'", 'string', false],
  ['constructor', "'constructor'", 'unknown', false],
  ['numeric(10,2)[]', 'DataType.ARRAY(DataType.DECIMAL(10, 2))', 'string[]', false],
  ['jsonb[]', 'DataType.ARRAY(DataType.JSONB)', 'unknown', false],
  ['interval[]', "'interval[]'", 'unknown', false],
];

const DEFAULTS: readonly (readonly [type: string, sql: string, value: string | undefined])[] = [
  ['integer', '0', '0'],
  ['integer', "'-1'::integer", '-1'],
  ['integer', '(-1)', '-1'],
  ['integer', '0.5', undefined],
  ['integer', "nextval('a'::regclass)", undefined],
  ['bigint', "'9007199254740993'::bigint", "'9007199254740993'"],
  ['double precision', '1.50', undefined],
  ['numeric(10,2)', '1.50', "'1.50'"],
  ['numeric', "'NaN'::numeric", undefined],
  ['boolean', 'true', 'true'],
  ['boolean', 'NOT false', undefined],
  ['text', "'it''s'::text", `"it's"`],
  ['text', "''::text", "''"],
  ['text', "E'a\\\\b'::text", undefined],
  ['text', "('a'::text || 'b'::text)", undefined],
  ['text', 'CURRENT_USER', undefined],
  ['character varying(5)', "'a'::character varying", "'a'"],
  ['character varying(5)', 'NULL::character varying', undefined],
  ['character(5)', "'a'::bpchar", undefined],
  ['timestamp with time zone', 'now()', undefined],
  ['date', "'2026-01-31'::date", undefined],
  ['jsonb', "'{}'::jsonb", undefined],
  ['text[]', "'{}'::text[]", undefined],
];

const HOSTILE = [
  `it's`,
  `"`,
  `'"`,
  '\\',
  "\\'",
  '`\u0024{process.exit()}`',
  '*/ process.exit() /*',
  '\n// </columns>\n',
  '\r\n\u2028\u2029\u0085\0',
  '\u202e\u200b\ud800',
  "'; process.exit(); '",
  '</script>',
  '*',
  '@deprecated {@link x}',
];

describe('the code of a model', () => {
  for (const [type, declared, field, isOrdered = true] of TYPES)
    it(`declares ${type} as ${declared}`, () => {
      expect(columnCode(columnOf('value', { type }))).to.deep.equal({ type: declared, field, isOrdered });
    });

  for (const [type, defaultSql, value] of DEFAULTS)
    it(`${value === undefined ? 'leaves' : 'declares'} the default ${defaultSql} of ${type}`, () => {
      expect(constantDefault(columnOf('value', { type, defaultSql }))).to.equal(value);
    });

  for (const text of HOSTILE)
    it(`keeps ${JSON.stringify(text)} a text`, () => {
      const literal = quoted(text);
      expect(runInNewContext(literal)).to.equal(text);
      expect(literal).to.match(/^[^\p{C}\u2028\u2029]*$/u);
      const comment = docComment([text], '  ');
      expect(runInNewContext(`${comment.join('\n')} 1`)).to.equal(1);
      for (const line of comment) expect(line).to.match(/^ {2}(?:\/\*\*| \*)[^\p{C}\u2028\u2029]*$/u);
    });

  it('has labels of enums beside the class, under names that no class has', () => {
    const labels = ['new', "it's"];
    const order = modelOf('Order', {
      attributes: [
        attributeOf('status', { type: 'status', labels, defaultSql: "'new'::status", isNotNull: true }),
        attributeOf('marks', { type: 'mark[]', labels: ['a'] }),
      ],
    });
    const { enums, columns } = codeOf(order, false, [modelOf('OrderStatus')]);
    expect(enums).to.equal(`export const ORDER_STATUS = ['new', "it's"] as const;
export type OrderStatusLabel = (typeof ORDER_STATUS)[number];
export const ORDER_MARKS = ['a'] as const;
export type OrderMarks = (typeof ORDER_MARKS)[number];`);
    expect(columns).to.equal(`  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true })
  declare id: number;

  @Column({ type: DataType.ENUM(...ORDER_STATUS), allowNull: false, defaultValue: 'new' })
  declare status: OrderStatusLabel;

  @Column(DataType.ARRAY(DataType.ENUM(...ORDER_MARKS)))
  declare marks: OrderMarks[] | null;`);
  });

  it('says of a column what the catalogue says', () => {
    const { columns } = codeOf(
      modelOf('Price', {
        attributes: [
          attributeOf('region', { isKey: true, type: 'text' }),
          attributeOf('no', { isKey: true, type: 'integer', defaultSql: "nextval('n'::regclass)" }),
          attributeOf('net', {
            column: columnOf('Net price', {
              type: 'numeric(10,2)',
              isNotNull: true,
              comment: 'Without tax.\nIn euros.',
              domain: { name: 'shop.price', checks: ['CHECK ((VALUE >= 0))'] },
            }),
          }),
          attributeOf('gross', {
            type: 'numeric',
            isNotNull: true,
            isGenerated: true,
            defaultSql: '(net * 1.2)',
          }),
          attributeOf('at', { type: 'timestamp with time zone', defaultSql: 'now()' }),
          attributeOf('token', { isSecret: true, defaultSql: "'changeme'::text" }),
          attributeOf('hash', { isSecret: true, defaultSql: "md5('changeme')" }),
          attributeOf('salt', { isSecret: true, isNotNull: true }),
          attributeOf('parts', { type: 'bytea[]' }),
        ],
      }),
    );
    expect(columns).to.equal(`  @Column({ type: DataType.TEXT, primaryKey: true })
  declare region: string;

  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true })
  declare no: number;

  /**
   * Without tax.
   * In euros.
   * Domain shop.price, CHECK ((VALUE >= 0)).
   */
  @Column({ type: DataType.DECIMAL(10, 2), allowNull: false, field: 'Net price' })
  declare net: string;

  /** The database makes its values. */
  @Column(DataType.DECIMAL)
  declare gross: string;

  /** Default: now() */
  @Column(DataType.DATE)
  declare at: Date | null;

  @Exclude()
  @Column(DataType.TEXT)
  declare token: string | null;

  @Exclude()
  @Column(DataType.TEXT)
  declare hash: string | null;

  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.TEXT, allowNull: false })
  declare salt: string;

  @Exclude({ toClassOnly: true })
  @Column(DataType.ARRAY(DataType.BLOB))
  declare parts: Buffer[] | null;`);
  });

  it('has relations, each with the keys by which it joins', () => {
    const artist = modelOf('Artist', { fileName: 'index_model', attributes: [attributeOf('slug')] });
    const album = modelOf('Album', {
      attributes: [attributeOf('artistId', { type: 'integer', isNotNull: true }), attributeOf('slug')],
      relations: [
        {
          kind: 'BelongsTo',
          name: 'artist',
          target: 'Artist',
          foreignKey: 'artistId',
          referencedKey: 'id',
          onDelete: 'CASCADE',
        },
        {
          kind: 'BelongsTo',
          name: 'guest',
          target: 'Artist',
          foreignKey: 'slug',
          referencedKey: 'slug',
          onDelete: 'NO ACTION',
        },
        { kind: 'HasOne', name: 'cover', target: 'Album', foreignKey: 'artistId', referencedKey: 'id' },
        {
          kind: 'HasMany',
          name: 'covers',
          target: 'Album',
          foreignKey: 'artistId',
          referencedKey: 'artistId',
        },
        {
          kind: 'BelongsToMany',
          name: 'tags',
          target: 'Tag',
          foreignKey: 'albumId',
          referencedKey: 'id',
          through: { model: 'AlbumTag', otherKey: 'tagId', referencedKey: 'slug' },
        },
      ],
    });
    const { columns, imports } = codeOf(album, false, [artist, modelOf('Tag'), modelOf('AlbumTag')]);
    expect(
      columns.slice(columns.indexOf('  @BelongsTo')),
    ).to.equal(`  @BelongsTo(() => Artist, { foreignKey: 'artistId', onDelete: 'CASCADE' })
  declare artist?: Ref<Artist>;

  @BelongsTo(() => Artist, { foreignKey: 'slug', targetKey: 'slug' })
  declare guest?: Ref<Artist> | null;

  @HasOne(() => Album, { foreignKey: 'artistId' })
  declare cover?: Ref<Album> | null;

  @HasMany(() => Album, { foreignKey: 'artistId', sourceKey: 'artistId' })
  declare covers?: Ref<Album[]>;

  @BelongsToMany(() => Tag, {
    through: () => AlbumTag,
    foreignKey: 'albumId',
    otherKey: 'tagId',
    targetKey: 'slug',
  })
  declare tags?: Ref<Tag[]>;`);
    expect(
      imports.filter(({ from }) => from.startsWith('.')).map(({ name, from }) => [name, from]),
    ).to.deep.equal([
      ['Artist', './index_model.js'],
      ['AlbumTag', './albumtag.js'],
      ['Tag', './tag.js'],
    ]);
  });

  it('is served by what the table allows', () => {
    const keyless = {
      attributes: [
        attributeOf('at', { type: 'date' }),
        attributeOf('salt', { isSecret: true }),
        attributeOf('data', { type: 'json' }),
      ],
    };
    const log = { ...modelOf('Log', keyless), id: [], attributes: keyless.attributes };
    const view = modelOf('Total', { table: { kind: 'materialized view' } });
    const line = modelOf('Line', {
      attributes: [attributeOf('no', { isKey: true }), attributeOf('order', { isKey: true })],
      id: ['order', 'no'],
      filterAllow: ['order'],
      sortAllow: ['order'],
      prefix: '/shop/lines',
      proposals: ['include: { order: true }\n', '@Table({ paranoid: true })'],
      table: { isInherited: true },
    });
    const crudOf = (plan: ModelPlan, isWritable: boolean) => decoratorsOf(plan, isWritable)[0];
    expect([
      crudOf(line, false),
      crudOf(view, true),
      crudOf(log, false),
      crudOf(log, true),
      crudOf(modelOf('Tag'), true),
    ]).to.deep.equal([
      '@Crud({',
      "@Crud({ readOnly: true, pagination: 'cursor' })",
      "@Crud({ endpoints: ['list'], defaultSort: 'at' })",
      "@Crud({ endpoints: ['list', 'create'], defaultSort: 'at' })",
      "@Crud({ pagination: 'cursor' })",
    ]);
    expect(codeOf(line).whole).to.include(`@Crud({
  prefix: '/shop/lines',
  readOnly: true,
  id: ['order', 'no'],
  pagination: 'cursor',
  only: true,
  filterAllow: ['order'],
  sortAllow: ['order'],
  // include: { order: true } ,
  // @Table({ paranoid: true })
})`);
    const bare = { ...log, attributes: keyless.attributes.slice(1) };
    expect(codeOf(bare).unserved).to.equal(
      'it has neither a key nor a column that its list could be sorted by.',
    );
    expect(decoratorsOf(bare)).to.deep.equal([
      "@Table({ schema: 'shop', tableName: 'logs', timestamps: false })",
    ]);
  });

  it('declares indexes, but none that is unique over some rows or an expression', () => {
    const indexes = [
      indexOf('pkey', { isPrimary: true, columns: ['id'] }),
      indexOf('by_name', { columns: ['Name', 'id'], isUnique: true }),
      indexOf('lower', {
        columns: [null, 'id'],
        expressions: ["lower('x')", null],
        method: 'gin',
        predicate: 'NOT gone',
      }),
      indexOf('some', { columns: ['id'], isUnique: true, predicate: 'NOT gone' }),
      indexOf('expression', { columns: [null], expressions: ['lower(a)'], isUnique: true }),
    ];
    expect(codeOf(modelOf('Tag', { table: { indexes } })).whole).to.include(`  indexes: [
    { name: 'by_name', unique: true, fields: ['Name', 'id'] },
    { name: 'lower', using: 'gin', fields: [literal("(lower('x'))"), 'id'], where: literal('NOT gone') },
  ],`);
  });
});
