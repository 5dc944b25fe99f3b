/** The plan of the models of a hard database: keys, relations, names, rights, and all that is left out. */
// @runs fast
import { expect } from 'chai';
import { Client } from 'pg';
import type { ModelPlan } from '../../../src/scaffold/model-plan.js';
import { planModels } from '../../../src/scaffold/plan-models.js';
import { readDatabase } from '../../../src/scaffold/read-database.js';
import { configProblems } from '../../support/config-error.js';
import { execute, freshDatabase, type TestDatabase } from '../../support/postgres.js';

const TABLES = `
CREATE SCHEMA sales; CREATE SCHEMA "Вход"; CREATE SCHEMA closed;
CREATE EXTENSION hstore; CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext;
CREATE TYPE public.mood AS ENUM ('ok', 'bad');
CREATE TYPE sales.mood AS ENUM ('up', 'down');
CREATE DOMAIN sales.temper AS sales.mood NOT NULL CHECK (VALUE <> 'down');
CREATE DOMAIN short AS varchar(5) CHECK (length(VALUE) > 1);
CREATE DOMAIN shorter AS short DEFAULT 'ab' CHECK (VALUE <> 'xx');
CREATE TYPE pair AS (a int, b int);

-- composite foreign key in another order of the columns
CREATE TABLE projects (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE threads (project_id int REFERENCES projects, number int, PRIMARY KEY (project_id, number));
CREATE TABLE posts (id int PRIMARY KEY, thread_no int NOT NULL, project_id int NOT NULL,
  CONSTRAINT posts_thread FOREIGN KEY (thread_no, project_id) REFERENCES threads (number, project_id));
CREATE TABLE replies (id int PRIMARY KEY, tenant_id int NOT NULL, post_id int, UNIQUE (tenant_id, id));
CREATE TABLE votes (id int PRIMARY KEY, tenant_id int NOT NULL, reply_id int, FOREIGN KEY (tenant_id, reply_id) REFERENCES replies (tenant_id, id));

-- names of two schemas, and relations with the names of columns
CREATE TABLE orders (id int PRIMARY KEY, customer text, customer_id int);
CREATE TABLE sales.orders (id int PRIMARY KEY, artist int, mood sales.mood, temper sales.temper, public_mood mood, tempers sales.temper[], p pair);
CREATE TABLE artists (id int PRIMARY KEY, "Password" text, api_token varchar(40), secretary text, password_changed_at timestamptz, file_hash text);
ALTER TABLE sales.orders ADD FOREIGN KEY (artist) REFERENCES artists;
CREATE TABLE albums (id int PRIMARY KEY, artist int NOT NULL REFERENCES artists ON DELETE CASCADE, producer_id int REFERENCES artists,
  cover text UNIQUE, artist_note shorter);

CREATE TABLE customers (id int PRIMARY KEY); ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customers;
CREATE TABLE categories (id int PRIMARY KEY, parent_id int REFERENCES categories, reports_to int REFERENCES categories);
CREATE TABLE employees (id int PRIMARY KEY, manager int REFERENCES employees);
CREATE TABLE profiles (artist_id int PRIMARY KEY REFERENCES artists, bio text);
CREATE TABLE tags (id int PRIMARY KEY);
CREATE TABLE album_tags (album_id int REFERENCES albums, tag_id int REFERENCES tags, PRIMARY KEY (tag_id, album_id));
CREATE TABLE album_likes (album_id int REFERENCES albums, tag_id int REFERENCES tags, at timestamptz, PRIMARY KEY (tag_id, album_id));
CREATE TABLE follows (follower_id int REFERENCES artists, followee_id int REFERENCES artists, PRIMARY KEY (follower_id, followee_id));

-- names
CREATE TABLE "Order Items" ("Item No" int PRIMARY KEY, "Größe" text, "цена" numeric(8,2), "数量" int, "2fa" text, "class" text, "where" text,
  "isNewRecord" bool, "save" text, "a""b" text, "$1" text, "*" text, "price (EUR)" int, "HTTPServer" text, "select" text);
CREATE TABLE "quo""ted" (id int PRIMARY KEY);
CREATE TABLE "表" ("键" int PRIMARY KEY);
CREATE TABLE "Вход"."таблица" (id int PRIMARY KEY);
CREATE TABLE models (id int PRIMARY KEY);
CREATE TABLE dates (id int PRIMARY KEY);
CREATE TABLE docs (id int PRIMARY KEY);
CREATE TABLE "2nd tries" (id int PRIMARY KEY);
CREATE TABLE con (id int PRIMARY KEY);
CREATE TABLE media (id int PRIMARY KEY); CREATE TABLE medium (id int PRIMARY KEY);

-- keys
CREATE TABLE logs (at timestamptz NOT NULL, text text);
CREATE TABLE slugs (id int, a text NOT NULL, b text NOT NULL, slug text NOT NULL, note text UNIQUE);
CREATE UNIQUE INDEX slugs_ab ON slugs (b, a); CREATE UNIQUE INDEX slugs_slug ON slugs (slug) WHERE note IS NULL; CREATE UNIQUE INDEX slugs_lower ON slugs (lower(slug));
ALTER TABLE slugs ADD CONSTRAINT slugs_later UNIQUE (slug) DEFERRABLE INITIALLY DEFERRED;
CREATE TABLE sessions (token text PRIMARY KEY, at timestamptz NOT NULL);
CREATE TABLE blobs (key bytea PRIMARY KEY, n int);
CREATE VIEW order_view AS SELECT id, customer FROM orders;
CREATE MATERIALIZED VIEW order_counts AS SELECT customer_id, count(*) AS count FROM orders GROUP BY 1; CREATE UNIQUE INDEX ON order_counts (customer_id);
CREATE TABLE events (id int, at date NOT NULL, order_id int REFERENCES orders, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE events_2025 PARTITION OF events FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE event_notes (id int PRIMARY KEY, event_id int, event_at date, FOREIGN KEY (event_id, event_at) REFERENCES events);
CREATE TABLE cities (id int PRIMARY KEY, name text); CREATE TABLE capitals (since date) INHERITS (cities);

-- written by the database
CREATE TABLE items (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int DEFAULT 1 + 1, twice int GENERATED ALWAYS AS (1) STORED,
  period daterange, "updated_at" timestamptz, "Key Text" text, lock_version int NOT NULL DEFAULT 0, deleted_at timestamptz, is_deleted boolean,
  price numeric(10,2) CHECK (price > 0), tags text[], doc jsonb, tall hstore, boxes box[], xid xid, vec int2vector, names name[], ci ext.citext, created_at timestamptz NOT NULL, EXCLUDE USING gist (period WITH &&));
CREATE INDEX ON items USING gin (tags); CREATE INDEX ON items USING gin (doc); CREATE INDEX ON items (n, price); CREATE INDEX ON items (updated_at) WHERE n = 1;
CREATE INDEX ON items USING hash (price);
COMMENT ON TABLE items IS 'All */ items'; COMMENT ON COLUMN items.n IS 'n';
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN -- NEW.n := 7;
 IF NEW.n = 1 THEN NEW.updated_at = now(); END IF; NEW."Key Text" := lower(NEW."Key Text"); RETURN NEW; END';
CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON items FOR EACH ROW EXECUTE FUNCTION keep();
ALTER TABLE items ENABLE ROW LEVEL SECURITY; ALTER TABLE items FORCE ROW LEVEL SECURITY;
CREATE RULE quiet AS ON DELETE TO cities DO INSTEAD NOTHING;
CREATE TABLE closed.secrets (id int PRIMARY KEY);
CREATE TABLE no_columns ();
CREATE TABLE line_clash (id int PRIMARY KEY, "line_1" int, b int);
CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw;
CREATE MATERIALIZED VIEW later AS SELECT 1 AS a WITH NO DATA;
CREATE FOREIGN TABLE far_orders (id int NOT NULL, note text) SERVER far;
`;

const MODELS = `
closed.secrets: Secret secret (id) id / id
  id*
public.2nd tries: N2ndTry n2nd-try (id) id / id
  id*
public.Order Items: OrderItem order-item (itemNo) itemNo / itemNo
  itemNo<Item No>* grosse<Größe> tsena<цена> column4<数量> n2fa<2fa> class_<class> where_<where> isNewRecord_<isNewRecord> save_<save> priceEur<price (EUR)> httpServer<HTTPServer> select
public.album_likes: AlbumLike album-like (tagId,albumId) tagId / tagId
  albumId<album_id>* tagId<tag_id>* at
  BelongsTo album: Album albumId=id
  BelongsTo tag: Tag tagId=id
public.album_tags: AlbumTag album-tag (tagId,albumId) tagId / tagId
  albumId<album_id>* tagId<tag_id>*
  BelongsTo album: Album albumId=id
  BelongsTo tag: Tag tagId=id
public.albums: Album album (id) id,cover / id,cover
  id* artistId<artist> producerId<producer_id> cover artistNote<artist_note>
  BelongsTo artist: Artist artistId=id
  BelongsTo producer: Artist producerId=id
  HasMany albumLikes: AlbumLike albumId=id
  HasMany albumTags: AlbumTag albumId=id
  BelongsToMany tags: Tag albumId=id AlbumTag.tagId=id
public.artists: Artist artist (id) id / id
  id* password<Password>! apiToken<api_token>! secretary passwordChangedAt<password_changed_at> fileHash<file_hash>!
  HasMany albumsByArtist: Album artistId=id
  HasMany albumsByProducer: Album producerId=id
  HasMany followsByFollowee: Follow followeeId=id
  HasMany followsByFollower: Follow followerId=id
  HasOne profile: Profile artistId=id
  HasMany salesOrders: SalesOrder artistId=id
  BelongsToMany followers: Artist followeeId=id Follow.followerId=id
  BelongsToMany followees: Artist followerId=id Follow.followeeId=id
public.blobs: Blob blob ()  /
  key n
public.capitals: Capital capital ()  /
  rowId<id> name since
public.categories: Category category (id) id / id
  id* parentId<parent_id> reportsToId<reports_to>
  BelongsTo parent: Category parentId=id
  BelongsTo reportsTo: Category reportsToId=id
  HasMany childrenByParent: Category parentId=id
  HasMany childrenByReportsTo: Category reportsToId=id
public.cities: City city (id) id / id
  id* name
public.con: Con con_model (id) id / id
  id*
public.customers: Customer customer (id) id / id
  id*
  HasMany orders: Order customerId=id
public.dates: DateRow date-row (id) id / id
  id*
public.docs: Doc doc /doc (id) id / id
  id*
public.employees: Employee employee (id) id / id
  id* manager
  BelongsTo parent: Employee manager=id
  HasMany children: Employee manager=id
public.event_notes: EventNote event-note (id) id / id
  id* eventId<event_id> eventAt<event_at>
  BelongsToKey event: Event eventId=id eventAt=at
public.events: Event event (id,at) id / id
  id* at* orderId<order_id>
  BelongsTo order: Order orderId=id
  HasManyKey eventNotes: EventNote eventId=id eventAt=at
public.far_orders: FarOrder far-order ()  /
  rowId<id> note
public.follows: Follow follow (followerId,followeeId) followerId / followerId
  followerId<follower_id>* followeeId<followee_id>*
  BelongsTo followee: Artist followeeId=id
  BelongsTo follower: Artist followerId=id
public.items: Item item (id) id,n,period,price,tags / id,n
  id* n twice period updatedAt<updated_at> keyText<Key Text> lockVersion<lock_version> deletedAt<deleted_at> isDeleted<is_deleted> price tags doc tall createdAt<created_at>
public.later: Later later ()  /
  a
public.line_clash: LineClash line-clash (id) id / id
  id* line1<line_1> b
public.logs: Log log ()  /
  at text
public.media: Media media (id) id / id
  id*
public.medium: Medium medium /medium (id) id / id
  id*
public.models: ModelRow model-row (id) id / id
  id*
public.order_counts: OrderCount order-count (customerId) customerId / customerId
  customerId<customer_id>* count
public.order_view: OrderView order-view ()  /
  rowId<id> customer
public.orders: Order order (id) id / id
  id* customer customerId<customer_id>
  BelongsTo customerRecord: Customer customerId=id
  HasMany events: Event orderId=id
public.posts: Post post (id) id / id
  id* threadNo<thread_no> projectId<project_id>
  BelongsToKey thread: Thread threadNo=number projectId=projectId
public.profiles: Profile profile (artistId) artistId / artistId
  artistId<artist_id>* bio
  BelongsTo artist: Artist artistId=id
public.projects: Project project (id) id / id
  id* name
  HasMany threads: Thread projectId=id
public.replies: Reply reply (id) id,tenantId / id,tenantId
  id* tenantId<tenant_id> postId<post_id>
  HasMany votes: Vote replyId=id
public.sessions: Session session ()  /
  token! at
public.slugs: Slug slug (b,a) b,slug,note / b,slug,note
  rowId<id> a* b* slug note
public.tags: Tag tag (id) id / id
  id*
  HasMany albumLikes: AlbumLike tagId=id
  HasMany albumTags: AlbumTag tagId=id
  BelongsToMany albums: Album tagId=id AlbumTag.albumId=id
public.threads: Thread thread (projectId,number) projectId / projectId
  projectId<project_id>* number*
  BelongsTo project: Project projectId=id
  HasManyKey posts: Post threadNo=number projectId=projectId
public.votes: Vote vote (id) id / id
  id* tenantId<tenant_id> replyId<reply_id>
  BelongsTo reply: Reply replyId=id
public.表: Table8868 table8868 (column1) column1 / column1
  column1<键>*
sales.orders: SalesOrder sales-order (id) id / id
  id* artistId<artist> mood temper publicMood<public_mood>
  BelongsTo artist: Artist artistId=id
Вход.таблица: Tablitsa tablitsa (id) id / id
  id*`;

const LEFT_OUT = `
inheritance of public.cities: Its model has only: true, and leaves out the rows of public.capitals, which have models of their own.
rule "quiet" of public.cities: A write does what the rule says; one that returns no row is 409.
row security of public.customers: Its policies do not hold for the role, which reads all rows; connect as another one, or use the option scope.
2 partitions of public.events: Their rows are read and written through it.
exclusion constraint "items_period_excl" of public.items: PostgreSQL alone checks it: EXCLUDE USING gist (period WITH &&).
check "items_price_check" of public.items: PostgreSQL alone checks it: CHECK ((price > (0)::numeric)).
trigger "keep" of public.items: PostgreSQL executes keep(), which sets updated_at; a comment of the model proposes readOnly.
row security of public.items: Its policies do not hold for the role, which reads all rows; connect as another one, or use the option scope.
rows of public.later: It was never refreshed, and a request for it is 500; write REFRESH MATERIALIZED VIEW public.later;
table public.no_columns: It has no column.
unique index "slugs_lower" of public.slugs: It is over an expression; PostgreSQL alone checks it.
unique index "slugs_slug" of public.slugs: It is over some rows only; PostgreSQL alone checks it.
column public.Order Items.a"b: Its name has a quotation mark, and Sequelize leaves it out of every name, so that something else would be read; a view can give it another name.
column public.Order Items.$1: Its name has a $, and Sequelize takes it for that of a parameter; a view can give it another name.
column public.Order Items.*: Its name is *, which Sequelize takes for all columns; a view can give it another name.
id of public.blobs: Its key (key) has a column that no path can show; its rows are only listed.
id of public.capitals: No unique index is over all rows, and over columns that are NOT NULL; its rows are only listed.
id of public.far_orders: Nothing says which columns of a foreign table are unique, so its rows are only listed; write its columns as "id" into the file of names: { "schema.view": { "id": ["…"] } }.
column public.items.boxes: Its type box[] has no form in JSON; a view can make a text of it.
column public.items.xid: Its type xid has no form in JSON; a view can make a text of it.
column public.items.vec: Its type int2vector has no form in JSON; a view can make a text of it.
column public.items.names: Its type name[] has no form in JSON; a view can make a text of it.
column public.items.ci: Its type ext.citext is in a schema outside of the search_path; add that schema to it by ALTER ROLE … SET search_path.
id of public.later: Nothing says which columns of a materialized view are unique, so its rows are only listed; write its columns as "id" into the file of names: { "schema.view": { "id": ["…"] } }.
id of public.logs: No unique index is over all rows, and over columns that are NOT NULL; its rows are only listed.
id of public.order_view: Nothing says which columns of a view are unique, so its rows are only listed; write its columns as "id" into the file of names: { "schema.view": { "id": ["…"] } }.
table public.quo"ted: Its name has a quotation mark, and Sequelize leaves it out of every name, so that something else would be read; a view can give it another name.
id of public.sessions: Its key (token) has a column that is hidden as a secret; its rows are only listed.
column sales.orders.tempers: Its type sales.temper[] is an array of a domain; a view can cast it to an array of sales.mood.
column sales.orders.p: Its type pair is a row type, which has no form in JSON; a view can name its parts.`;

const HINTS = `
public.artists: Password, api_token, file_hash are hidden as a secret.
public.artists: the proposed include is as large as one may be, without salesOrders, followers, followees.
public.sessions: token is hidden as a secret.
public.items: consider readOnly: ['updatedAt']
public.items: consider @Table({ timestamps: true, paranoid: true, createdAt: 'createdAt', updatedAt: false, deletedAt: 'deletedAt' })
public.items: consider etag: { attribute: 'lockVersion' }
public.items: consider softDelete: { attribute: 'isDeleted', deleted: true, alive: false }`;

/** A model in a few lines: attributes with columns of another name, `*` for the key and `!` for secrets. */
function shown({ table, className, fileName, prefix, id, attributes, ...plan }: ModelPlan) {
  const names = attributes.map(
    ({ name, column, isKey, isSecret }) =>
      `${name}${name === column.name ? '' : `<${column.name}>`}${isKey ? '*' : ''}${isSecret ? '!' : ''}`,
  );
  const head = [className, fileName, prefix].filter(Boolean).join(' ');
  return [
    `${table.schema}.${table.name}: ${head} (${id}) ${plan.filterAllow} / ${plan.sortAllow}`.trimEnd(),
    `  ${names.join(' ')}`,
    ...plan.relations.map(
      ({ kind, name, target, foreignKey, referencedKey, more = [], through }) =>
        `  ${kind} ${name}: ${target} ${foreignKey}=${referencedKey}${more.map((each) => ` ${each.foreignKey}=${each.referencedKey}`).join('')}${through ? ` ${through.model}.${through.otherKey}=${through.referencedKey}` : ''}`,
    ),
  ];
}

describe('the plan of models from a database', function () {
  this.timeout(60_000);
  let database: TestDatabase;

  before(async () => {
    database = await freshDatabase('plan');
    await execute(database.url, TABLES);
  });
  after(() => database.drop());

  it('has keys, names and relations both ways, and a reason for each construct that is left out', async () => {
    const plan = planModels(await readDatabase(database.url));
    expect(`\n${plan.models.flatMap(shown).join('\n')}`).to.equal(MODELS);
    expect(`\n${plan.leftOut.map(({ construct, reason }) => `${construct}: ${reason}`).join('\n')}`).to.equal(
      LEFT_OUT,
    );
    expect(`\n${plan.hints.join('\n')}`).to.equal(HINTS);
  });

  it('has facts of columns: domains, defaults, identity, comments, columns that triggers set', async () => {
    const { tables } = await readDatabase(database.url, { tables: ['items', 'albums', 'sales.orders'] });
    const [albums, items, orders] = tables;
    expect(albums?.columns.at(-1)).to.deep.equal({
      name: 'artist_note',
      comment: null,
      type: 'character varying(5)',
      base: 'character varying',
      isArray: false,
      labels: null,
      domain: {
        name: 'shorter',
        checks: ['CHECK ((length((VALUE)::text) > 1))', "CHECK (((VALUE)::text <> 'xx'::text))"],
      },
      isNotNull: false,
      defaultSql: "'ab'::character varying",
      identity: null,
      isGenerated: false,
      formProblem: null,
    });
    expect(items?.comment).to.equal('All */ items');
    expect(items?.setByTriggers).to.deep.equal(['updated_at']);
    expect(
      items?.columns
        .slice(0, 11)
        .map(({ type, base, isNotNull, defaultSql, identity, isGenerated }) =>
          [type, base, isNotNull, defaultSql, identity, isGenerated].join(),
        ),
    ).to.deep.equal([
      'integer,integer,true,,always,false',
      'integer,integer,false,(1 + 1),,false',
      'integer,integer,false,,,true',
      'daterange,daterange,false,,,false',
      'timestamp with time zone,timestamp with time zone,false,,,false',
      'text,text,false,,,false',
      'integer,integer,true,0,,false',
      'timestamp with time zone,timestamp with time zone,false,,,false',
      'boolean,boolean,false,,,false',
      'numeric(10,2),numeric,false,,,false',
      'text[],text,false,,,false',
    ]);
    expect(
      orders?.columns.map(({ base, labels, isArray, isNotNull }) =>
        [base, labels?.join(' '), isArray, isNotNull].join(),
      ),
    ).to.deep.equal([
      'integer,,false,true',
      'integer,,false,false',
      'sales.mood,up down,false,false',
      'sales.mood,up down,false,true',
      'mood,ok bad,false,false',
      'sales.mood,up down,true,false',
      'pair,,false,false',
    ]);
  });

  it('is the same for the same database, in whatever order it was made', async () => {
    const tables = [
      'b_x (id int PRIMARY KEY, a int, c int)',
      'a_x (id int PRIMARY KEY, b int)',
      'c_x (id int PRIMARY KEY)',
    ];
    const keys = [
      'b_x ADD FOREIGN KEY (a) REFERENCES a_x',
      'b_x ADD FOREIGN KEY (c) REFERENCES c_x',
      'a_x ADD FOREIGN KEY (b) REFERENCES b_x',
    ];
    const plans: unknown[] = [];
    for (const order of [(all: string[]) => all, (all: string[]) => [...all].reverse()]) {
      await using made = await freshDatabase('order');
      await execute(
        made.url,
        [
          ...order(tables).map((each) => `CREATE TABLE ${each}`),
          ...order(keys).map((each) => `ALTER TABLE ${each}`),
        ].join(';'),
      );
      plans.push(planModels(await readDatabase(made.url)));
    }
    expect(plans[0]).to.deep.equal(plans[1]);
  });

  it('stops where names meet, with lines that solve it', async () => {
    await using clash = await freshDatabase('clash');
    await execute(
      clash.url,
      `CREATE TABLE orders (id int PRIMARY KEY, line_1 int, "line1" int); CREATE TABLE "order" (id int PRIMARY KEY, artist int REFERENCES orders,
       artist_id int REFERENCES orders)`,
    );
    const schema = await readDatabase(clash.url);
    const problems = await configProblems(() => planModels(schema));
    expect(problems.slice(0, -1)).to.deep.equal([
      'public.order and public.orders would both be the class Order.',
      'The columns "line1" and "line_1" of public.orders would both be the attribute line1.',
    ]);
    const lines = (problems.at(-1) ?? '').replace(/^[^\n]*\n/, '');
    expect(JSON.parse(lines)).to.deep.equal({
      'public.orders': { class: 'Orders', columns: { line_1: 'line1_2' } },
    });
    // Sequelize would return the values of the column "line1" for it.
    const columns = { line1: 'line1_2' };
    const swapped = { 'public.orders': { class: 'Orders', columns } };
    const refused = await configProblems(() => planModels(schema, { names: swapped }));
    expect(refused[0]).to.equal(
      'The attribute line1 of the column "line_1" of public.orders has the name of another column.',
    );
    const { models } = planModels(schema, { names: JSON.parse(lines) });
    expect(models.flatMap(shown)).to.deep.equal([
      'public.order: Order order (id) id / id',
      '  id* artist artistId<artist_id>',
      '  BelongsTo artistOrders: Orders artist=id',
      '  BelongsTo artistRecord: Orders artistId=id',
      'public.orders: Orders orders /orders-rows (id) id / id',
      '  id* line1_2<line_1> line1',
      '  HasMany ordersByArtistOrders: Order artist=id',
      '  HasMany ordersByArtistRecord: Order artistId=id',
    ]);
  });

  it('leaves out what the role may not read, with the right that it lacks', async () => {
    const role = `reader_${database.url.split('_').at(-1)}`;
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'secret' });
    await execute(
      database.url,
      `CREATE ROLE ${role} LOGIN PASSWORD 'secret'; GRANT USAGE ON SCHEMA sales TO ${role};
       GRANT SELECT ON customers TO ${role}; GRANT SELECT (id, "Password") ON artists TO ${role};`,
    );
    try {
      const plan = planModels(
        await readDatabase(url.href, { tables: ['artists', 'customers', 'orders', 'secrets'] }),
      );
      expect(plan.models.flatMap(shown)).to.deep.equal([
        'public.artists: Artist artist (id) id / id',
        '  id* password<Password>!',
        'public.customers: Customer customer (id) id / id',
        '  id*',
      ]);
      const grant = (right: string) => `The role may not read it; write GRANT ${right} TO ${role};`;
      expect(plan.leftOut.map(({ construct, reason }) => [construct, reason])).to.deep.equal([
        [
          'schema closed (1 tables and views)',
          `The role may not use it; write GRANT USAGE ON SCHEMA closed TO ${role};`,
        ],
        ...['api_token', 'secretary', 'password_changed_at', 'file_hash'].map((column) => [
          `column public.artists.${column}`,
          grant(`SELECT (${column}) ON public.artists`),
        ]),
        [
          'row security of public.customers',
          'Policies decide which rows the role reads and writes; the option rls of bootstrap sets what they read of a request.',
        ],
        ['table public.orders', grant('SELECT ON public.orders')],
        ['table sales.orders', grant('SELECT ON sales.orders')],
      ]);
      for (const [choice, expected] of [
        [
          { schemas: ['closed'] },
          [
            `The role ${role} may not use the schema 'closed'; write GRANT USAGE ON SCHEMA closed TO ${role};`,
          ],
        ],
        [
          { schemas: ['sales'] },
          [
            `The schemas sales of '${url.pathname.slice(1)}' have no table or view that the role ${role} may read.`,
            `table sales.orders: ${grant('SELECT ON sales.orders')}`,
          ],
        ],
      ] as const)
        expect(await configProblems(() => readDatabase(url.href, choice))).to.deep.equal(expected);
    } finally {
      await execute(database.url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('waits for no table that a migration has locked', async () => {
    const migration = new Client({ connectionString: database.url });
    await migration.connect();
    try {
      await migration.query('BEGIN; LOCK TABLE items');
      const [problem] = await configProblems(() => readDatabase(database.url));
      expect(problem).to.match(
        / has a table of '\w+' that another transaction has locked for more than 2 s, /,
      );
    } finally {
      await migration.end();
    }
  });

  it('refuses addresses and choices that lead to nothing', async () => {
    const other = (change: Partial<URL>) => Object.assign(new URL(database.url), change).href;
    const { host, hostname, username, pathname, href } = new URL(database.url);
    const at = (where: string, name = pathname.slice(1)) =>
      `PostgreSQL at ${where}, database '${name}', user '${username}':`;
    const example = 'use one such as postgres://user:password@host:5432/database.';
    const cases: [
      url: string | undefined,
      choice: { schemas?: string[]; tables?: string[] },
      problems: string[],
    ][] = [
      [
        undefined,
        {},
        [`The DSN is undefined: the environment variable that it comes from is not set; ${example}`],
      ],
      ['http://localhost/x', {}, [`The DSN begins with 'http:'; ${example}`]],
      [
        other({ pathname: '/nowhere' }),
        {},
        [`${at(host, 'nowhere')} there is no such database; create it or correct its name.`],
      ],
      [
        other({ port: '1' }),
        {},
        [`${at(`${hostname}:1`)} nothing listens there; start the server or correct the port.`],
      ],
      [other({ password: 'hunter2' }), {}, [`${at(host)} the server refuses the user or the password.`]],
      [
        other({ password: '' }),
        {},
        [
          `${at(host)} the server asks for a password; write it into the DSN, percent-encoded, or set PGPASSWORD.`,
        ],
      ],
      [
        href,
        { schemas: ['sale', 'nix'] },
        [
          "There is no schema 'sale'. Did you mean 'sales'?",
          "There is no schema 'nix'. The database has closed, ext, public, sales, Вход.",
        ],
      ],
      [
        href,
        { tables: ['order*', 'albmus', '!nix*'] },
        [
          "The pattern 'albmus' matches no table or view. Did you mean 'albums'?",
          "The pattern '!nix*' matches no table or view.",
        ],
      ],
      [href, { tables: [''] }, ["A pattern of tables is empty; use ones such as 'order*' and '!*_old'."]],
      [
        href,
        { tables: ['*', '!*'] },
        ["The patterns '*,!*' leave no table or view; use '!' for those that are left out."],
      ],
    ];
    for (const [url, choice, problems] of cases)
      expect(
        await configProblems(() => readDatabase(url as string, choice)),
        JSON.stringify(choice),
      ).to.deep.equal(problems);
    const { tables } = await readDatabase(href, {
      tables: ['order*', '!*_view', 'sales.*', '!public.order_*'],
    });
    expect(tables.map(({ schema, name }) => `${schema}.${name}`)).to.deep.equal([
      'public.orders',
      'sales.orders',
    ]);
  });
});
