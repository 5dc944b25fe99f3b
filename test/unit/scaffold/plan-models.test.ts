/** Choices of people, and guesses about columns: the parts of a plan that need no database. */
import { expect } from 'chai';
import type { DatabaseColumn, DatabaseForeignKey, DatabaseTable } from '../../../src/scaffold/model-plan.js';
import { planModels } from '../../../src/scaffold/plan-models.js';
import { configProblems } from '../../support/config-error.js';
import { columnOf, indexOf, modelOf } from '../../support/model-plans.js';

const INTEGER = { type: 'integer' };
const KEYED = {
  primaryKey: ['id'],
  indexes: [indexOf('key', { isUnique: true, isPrimary: true, columns: ['id'] })],
};
const ARTIST: DatabaseForeignKey = {
  name: 'albums_artist',
  columns: ['artist'],
  targetSchema: 'shop',
  targetTable: 'artists',
  targetColumns: ['id'],
  onDelete: 'NO ACTION',
  onUpdate: 'NO ACTION',
  isFull: false,
};

function tableOf(name: string, columns: readonly DatabaseColumn[], rest: Partial<DatabaseTable> = {}) {
  return modelOf('', { table: { name, columns, ...rest } }).table;
}

const TABLES = [
  tableOf('artists', [columnOf('id', INTEGER), columnOf('name')], KEYED),
  tableOf('albums', [columnOf('id', INTEGER), columnOf('artist', INTEGER)], {
    ...KEYED,
    foreignKeys: [ARTIST],
  }),
  tableOf(
    'sales',
    [columnOf('day', { type: 'date' }), columnOf('total', { type: 'numeric' }), columnOf('token')],
    {
      kind: 'view',
    },
  ),
];

function planOf(names: unknown) {
  return planModels({ tables: TABLES, leftOut: [], otherTables: ['shop.others'] }, { names });
}

describe('the plan of models', () => {
  it('has the names that people choose', () => {
    const { models, leftOut } = planOf({
      'shop.artists': { class: 'Musician', columns: { name: 'title' } },
      'shop.albums': { relations: { albums_artist: { one: 'musician', many: 'records' } } },
      'shop.sales': { id: ['day'] },
      'shop.others': { class: 'Other' },
    });
    expect(
      models.map(({ className, fileName, id, attributes, relations }) => [
        className,
        fileName,
        id.join(),
        attributes.map(({ name }) => name).join(),
        relations
          .map(({ kind, name, target, foreignKey }) => `${kind} ${name} ${target} ${foreignKey}`)
          .join(),
      ]),
    ).to.deep.equal([
      ['Musician', 'musician', 'id', 'id,title', 'HasMany records Album artist'],
      ['Album', 'album', 'id', 'id,artist', 'BelongsTo musician Musician artist'],
      ['Sale', 'sale', 'day', 'day,total,token', ''],
    ]);
    expect(leftOut).to.deep.equal([]);
  });

  it('refuses names of what is not there, and names that cannot be', async () => {
    const cases: [names: unknown, problem: string][] = [
      [
        [],
        'The file of names has []; use an object such as { "shop.order_lines": { "class": "OrderLine" } }.',
      ],
      [
        { 'shop.artist': {} },
        "The file of names has the table 'shop.artist', which is not there. Did you mean 'shop.artists'?",
      ],
      [
        { 'shop.albums': 'Album' },
        `The file of names, shop.albums: "Album" is no object; use { "class": "…", "columns": {…} }.`,
      ],
      [
        { 'shop.albums': { clas: 'A' } },
        "The file of names, shop.albums: 'clas' is unknown. Did you mean 'class'?",
      ],
      [
        { 'shop.albums': { class: 'Model' } },
        'The file of names, shop.albums: class is "Model"; use a name such as \'OrderLine\', which no import and no type of JavaScript has.',
      ],
      [
        { 'shop.albums': { columns: { artists: 'a' } } },
        "The file of names, shop.albums: columns has 'artists', which is not there. Did you mean 'artist'?",
      ],
      [
        { 'shop.albums': { columns: { artist: 'ärtist' } } },
        'The file of names, shop.albums: column \'artist\' is "ärtist"; use letters of ASCII, digits and _.',
      ],
      [
        { 'shop.albums': { relations: { artist: {} } } },
        "The file of names, shop.albums: relations has 'artist', which is not there. There are albums_artist.",
      ],
      [
        { 'shop.albums': { relations: { albums_artist: { one: 7, back: 'x' } } } },
        "The file of names, shop.albums: relation 'albums_artist' 'back' is unknown. There are one, many, through.",
      ],
      [
        { 'shop.albums': { id: ['artist'] } },
        'The file of names, shop.albums: id is for views and foreign tables; a table has the key that its indexes say is unique.',
      ],
      [
        { 'shop.sales': { id: ['date'] } },
        `The file of names, shop.sales: id has "date", which is no column. Did you mean 'day'?`,
      ],
      [
        { 'shop.sales': { id: ['day', 'token'] } },
        "The file of names, shop.sales: id has 'token', whose values no path can show; use other columns.",
      ],
      [
        { 'shop.sales': { id: [] } },
        'The file of names, shop.sales: id is []; use the columns that address a row, such as ["order_id", "line_no"].',
      ],
      [
        { 'shop.albums': { columns: { artist: 'save' } } },
        "The attribute 'save' of shop.albums is the name of a member of records.",
      ],
      [
        { 'shop.albums': { relations: { albums_artist: { one: 'id' } } } },
        'The relation "id" of shop.albums, by the foreign key "albums_artist" of shop.albums, has a name that is taken.',
      ],
      [
        { 'shop.albums': { class: 'Artist' } },
        'shop.artists and shop.albums would both be the class Artist.',
      ],
    ];
    for (const [names, problem] of cases)
      expect((await configProblems(() => planOf(names)))[0], JSON.stringify(names)).to.equal(problem);
  });

  it('has a file for each table, also for those that Windows has no files of', async () => {
    const plan = (...names: readonly string[]) =>
      planModels({
        tables: names.map((name) => tableOf(name, [columnOf('id', INTEGER)], KEYED)),
        leftOut: [],
      });
    const { models } = plan('con', 'con_model', 'index', 'index_model', 'constructor', '__proto__', '-');
    expect(models.map(({ className, fileName }) => `${className} ${fileName}`)).to.deep.equal([
      'Con con_model',
      'ConModel con-model',
      'Index index_model',
      'IndexModel index-model',
      'Constructor constructor',
      'Proto proto',
      'Table2d table2d',
    ]);
    const [problem, lines = ''] = await configProblems(() =>
      plan('customer', 'Customer', 'CUSTOMER', 'customers'),
    );
    expect(problem).to.equal(
      'shop.customer and shop.Customer and shop.CUSTOMER and shop.customers would all be the class Customer.',
    );
    expect(JSON.parse(lines.replace(/^.*\n/, ''))).to.deep.equal({
      'shop.Customer': { class: 'Customer2' },
      'shop.CUSTOMER': { class: 'Customer3' },
      'shop.customers': { class: 'Customers' },
    });
  });

  it('hides columns with the names of secrets', () => {
    const secrets =
      'password passwd user_pass pwd passwordhash PasswordSalt secret client_secret token api_token apiKey private_key file_hash hash salt otp ' +
      'session_key activation_key credentials password_digest pass_crypt encrypted_name reset_digest Kennwort пароль md5hash recovery_codes pin:integer cvv:smallint card_pin_code:numeric otp:bigint';
    const plain =
      'secretary token_id token_type tokenable_type hashtag variation_digest basalt is_encrypted:boolean monkey password_changed_at:date password_count:integer tokens:integer spin:integer has_password:boolean key';
    const columns = `${secrets} ${plain}`.split(' ').map((text) => {
      const [name = '', type] = text.split(':');
      return columnOf(name, type ? { type } : {});
    });
    const [model] = planModels({ tables: [tableOf('users', columns)], leftOut: [] }).models;
    expect(
      model?.attributes.filter(({ isSecret }) => isSecret).map((each) => each.column.name),
    ).to.deep.equal(secrets.split(' ').map((text) => text.replace(/:.*/, '')));
    for (const name of ['auth_tokens', 'api_keys', 'ApiKey']) {
      const tables = [tableOf(name, [columnOf('key'), columnOf('note')])];
      const [found] = planModels({ tables, leftOut: [] }).models;
      expect(found?.attributes.map(({ isSecret }) => isSecret)).to.deep.equal([true, false]);
    }
  });
});
