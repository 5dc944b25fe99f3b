/**
 * The statements of every route, held against what the documentation of engines of several servers says. `docs/engines.md` is as this test
 * finds it; `CRUD_TEST_WRITE=1` writes it.
 */
// @runs once
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  BULK_ENDPOINTS,
  ENDPOINTS,
  OPTION_ROUTE_NAMES,
  PAST_ENDPOINTS,
} from '../../../src/declare/endpoint.js';
import type { BootstrapOptions, CrudApplication } from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { ENGINES, type Engine, type Verdict, worst } from '../../support/engine-limits.js';
import { forSuite } from '../../support/for-suite.js';
import { PACKAGE_ROOT } from '../../support/package-root.js';
import { connectTo, freshDatabase } from '../../support/postgres.js';
import {
  type Classified,
  CONSTRUCTS,
  type Construct,
  StatementClassifier,
} from '../../support/statement-constructs.js';
import { StatementTap } from '../../support/statement-tap.js';
import { type Ask, FORMS, MODELS, ROWS, SERVED } from '../../support/tenant-forms.js';
import { serveTestApp } from '../../support/test-app.js';

/** A statement with each part. */
const SAMPLES: Readonly<Record<Construct, string>> = {
  LATERAL: 'SELECT 1 FROM tasks AS t CROSS JOIN LATERAL (SELECT t.id) AS x',
  'WITH ORDINALITY': 'SELECT n FROM unnest($1::int[]) WITH ORDINALITY AS x (v, n)',
  'function in FROM': 'SELECT v FROM unnest($1::int[]) AS x (v)',
  'INSERT … SELECT': "INSERT INTO pages (tenant_id, name) SELECT $1, 'x' WHERE true",
  'ON CONFLICT': "INSERT INTO pages VALUES (1, 1, 'x') ON CONFLICT DO NOTHING",
  'row lock': 'SELECT id FROM tasks FOR NO KEY UPDATE',
  'SKIP LOCKED': 'SELECT id FROM tasks FOR UPDATE SKIP LOCKED',
  'WITH that writes': 'WITH x AS (DELETE FROM tasks RETURNING id) SELECT id FROM x',
  'table without a tenant': 'SELECT 1 FROM tasks JOIN member_labels ON "labelId" = id',
  MATERIALIZED: 'WITH x AS MATERIALIZED (SELECT 1) SELECT FROM x',
  'correlated subquery':
    'SELECT (SELECT name FROM projects AS p WHERE p.id = t."project_id") FROM tasks AS t',
  'subquery that never runs': 'SELECT CASE WHEN false THEN ARRAY(SELECT id FROM tasks) ELSE $1 END',
  nextval: "SELECT nextval('tasks_id_seq')",
  ctid: 'DELETE FROM tasks WHERE ctid = $1',
  xmin: 'SELECT xmin FROM tasks',
  'transaction numbers': 'SELECT pg_current_snapshot()',
  'advisory lock': 'SELECT pg_try_advisory_xact_lock(1)',
  'function that is not IMMUTABLE over a column, in a write':
    "UPDATE tasks SET points = 1 WHERE rank::text = 'low'",
  'function that is not IMMUTABLE in RETURNING': 'DELETE FROM tasks RETURNING due::text',
  'settings of a transaction': "SELECT set_config('lock_timeout', '1s', true)",
  savepoint: 'ROLLBACK TO SAVEPOINT item',
  'deferred constraints': 'SET CONSTRAINTS ALL IMMEDIATE',
  trigger: 'CREATE OR REPLACE TRIGGER t AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION f()',
  'transition tables':
    'CREATE TRIGGER t AFTER INSERT ON tasks REFERENCING NEW TABLE AS n EXECUTE FUNCTION f()',
  partitions: 'CREATE TABLE part PARTITION OF whole DEFAULT',
  LISTEN: 'LISTEN tasks',
  'prepared transaction': "PREPARE TRANSACTION 'x'",
};

/** Statements, and how each binds the tenant. */
const BOUND: readonly (readonly [text: string, tenant: Classified['tenant']])[] = [
  ['SELECT 1', null],
  ['SELECT id FROM tasks', 'none'],
  ['SELECT id FROM tasks WHERE tenant_id = $1 OR id = 1', 'none'],
  ['SELECT id FROM tasks WHERE tenant_id > $1', 'none'],
  ['SELECT id FROM tasks WHERE tenant_id = ANY ($1)', 'of rows'],
  ['SELECT 1 FROM tasks AS t JOIN projects AS p ON p.tenant_id = t.tenant_id WHERE t.tenant_id = $1', 'one'],
  ['SELECT 1 FROM tasks AS t JOIN projects AS p ON p.id = t.project_id WHERE t.tenant_id = $1', 'none'],
  [
    'SELECT 1 FROM tasks AS t WHERE tenant_id = $1 AND EXISTS (SELECT 1 FROM projects AS p WHERE p.tenant_id = t.tenant_id)',
    'one',
  ],
  [
    'SELECT 1 FROM tasks AS t WHERE tenant_id = $1 AND EXISTS (SELECT 1 FROM projects AS p WHERE p.id = t.project_id)',
    'none',
  ],
  ['UPDATE tasks AS t SET points = 1 FROM unnest($1::int[]) AS x (v) WHERE t.tenant_id = x.v', 'of rows'],
  [
    'WITH x AS (SELECT tenant_id FROM projects WHERE tenant_id = 1) DELETE FROM tasks USING x WHERE tasks.tenant_id = x.tenant_id',
    'one',
  ],
  ["INSERT INTO pages (tenant_id, name) VALUES ($1, 'x')", 'one'],
  ["INSERT INTO pages (tenant_id, name) SELECT v, 'x' FROM unnest($1::int[]) AS x (v)", 'of rows'],
  [
    "INSERT INTO pages (tenant_id, name) SELECT $1, 'x' WHERE EXISTS (SELECT 1 FROM projects WHERE id = 1)",
    'none',
  ],
];

/** The handler of a form's route. A list of records is sent to the route of many. */
function handlerOf(routes: CrudApplication['routes'], [method, path, body]: Ask): string | undefined {
  const plain = (path.split('?')[0] as string).replace(/\/\d+(?:,\d+)?/g, '/:');
  const isMany = Array.isArray(body) && method === 'post' && path === '/tasks';
  return routes.find(
    (each) =>
      each.method === method.toUpperCase() &&
      each.path.replace(/:\w+/g, ':') === `${plain}${isMany ? '/many' : ''}`,
  )?.handler;
}

/** A statement that runs beside requests, now and then. */
const SWEEP = /^DELETE FROM "crud_\w+" WHERE ctid/;

interface Form {
  readonly constructs: ReadonlySet<Construct>;
  readonly tenant: Classified['tenant'];
  readonly verdicts: readonly Verdict[];
}

function formOf(statements: readonly Classified[]): Form {
  const tenant = (['none', 'of rows', 'one'] as const).find((each) =>
    statements.some((one) => one.tenant === each),
  );
  return {
    constructs: new Set(statements.flatMap(({ constructs }) => [...constructs])),
    tenant: tenant ?? null,
    verdicts: ENGINES.map((engine) => worst(statements.map((each) => engine.judge(each)))),
  };
}

const TENANTS = { one: 'one value', 'of rows': 'values of rows', none: 'not in all' } as const;

function rowOf(name: string, { constructs, tenant, verdicts }: Form): string {
  const parts = CONSTRUCTS.filter((each) => constructs.has(each)).join(', ');
  return `| ${name} | ${tenant ? TENANTS[tenant] : ''} | ${parts} | ${verdicts.join(' | ')} |`;
}

function limitsOf(engine: Engine, used: ReadonlySet<Construct>): string {
  const rows = CONSTRUCTS.map((each) => {
    const { verdict, text, sources } = engine.limits[each];
    return `| ${each}${used.has(each) ? '' : ' (in no statement)'} | ${verdict} | ${text} | ${sources.join(', ')} |`;
  });
  const sources = Object.entries(engine.sources).map(
    ([mark, [title, address]]) => `- ${mark}: [${title}](${address})`,
  );
  return `## ${engine.name}: ${engine.version}

| part of a statement | answer | in words | source |
| --- | --- | --- | --- |
${rows.join('\n')}

${sources.join('\n')}`;
}

describe('statements and engines of several servers', function () {
  this.timeout(120_000);
  const database = forSuite(() => freshDatabase());
  const tap = forSuite(() => StatementTap.start(database.url));
  const options: BootstrapOptions = {
    idempotency: { principal: () => 'someone' },
    indexAdvice: false,
    logger: new CapturedLog(),
  };
  const site = serveTestApp(() => ({
    models: MODELS,
    database: { url: tap.url },
    bootstrap: { models: SERVED, ...options },
  }));
  const direct = forSuite(async () => {
    const client = await connectTo(database.url);
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
  });
  const forms = new Map<string, Form>();

  before(async function () {
    // An older PostgreSQL writes other trees.
    const { rows } = await direct.query("SELECT current_setting('server_version_num')::int AS version");
    if (rows[0].version < 180_000) this.skip();
    const started = tap.take();
    const classifier = await StatementClassifier.of(direct, 'tenant_id');
    const classified = async (texts: readonly string[]) => {
      const all: Classified[] = [];
      for (const text of new Set(texts)) all.push(await classifier.classify(text));
      return formOf(all.filter(({ isOfCatalogue }) => !isOfCatalogue));
    };
    const made = (pattern: RegExp) => started.map(({ text }) => text).filter((text) => pattern.test(text));
    forms.set('tables of this library', await classified(made(/crud_(?:idempotency|import)|advisory/)));
    forms.set(
      'tables and triggers of `history` and `changes`',
      await classified(made(/crud_(?:changes|ticks|capture)/)),
    );
    const { agent } = await buildApp({ models: SERVED, fastPath: false, ...options });
    const swept = new Set<string>();
    const split = async (texts: readonly string[]) => {
      for (const text of texts.filter((each) => SWEEP.test(each))) swept.add(text);
      return classified(texts.filter((each) => !SWEEP.test(each)));
    };
    for (const [name, ask] of Object.entries(FORMS)) {
      const found: Form[] = [];
      for (const each of [site.agent, agent]) found.push(await split(await statementsOf(each, ask)));
      const [fast, general] = found as [Form, Form];
      const isSame = rowOf('', fast) === rowOf('', general);
      forms.set(name, fast);
      if (!isSame) forms.set(`${name} (by Sequelize)`, general);
    }
    forms.set('removal of old keys, beside requests', await classified([...swept]));
  });

  /** The statements of a request. */
  async function statementsOf(
    agent: typeof site.agent,
    [method, path, body, headers = {}]: Ask,
  ): Promise<string[]> {
    await direct.query(ROWS);
    let target = path;
    if (path.endsWith('CURSOR')) {
      const { body: first } = await agent.get('/tasks/changes?after=now').set('tenant', '1');
      target = path.replace('CURSOR', encodeURIComponent(first.next_cursor));
      await direct.query('UPDATE tasks SET points = points + 1');
    }
    tap.take();
    const request = agent[method](target).set({ tenant: '1', ...headers });
    if (typeof body === 'string') request.set('Content-Type', 'application/x-ndjson');
    const { status, text } = await request.send(body as object);
    expect(status, `${method} ${path}: ${text}`).to.be.below(300);
    return tap.take().map((each) => each.text);
  }

  it('show each part that engines limit', async () => {
    const classifier = await StatementClassifier.of(direct, 'tenant_id');
    for (const part of CONSTRUCTS) {
      const { constructs } = await classifier.classify(SAMPLES[part]);
      expect([...constructs], SAMPLES[part]).to.include(part);
    }
    const { constructs, tenant } = await classifier.classify(
      'SELECT id FROM tasks WHERE tenant_id = $1 ORDER BY id LIMIT 1',
    );
    expect([[...constructs], tenant]).to.deep.equal([[], 'one']);
  });

  it('bind the tenant as they do', async () => {
    const classifier = await StatementClassifier.of(direct, 'tenant_id');
    for (const [text, tenant] of BOUND)
      expect((await classifier.classify(text)).tenant, text).to.equal(tenant);
  });

  it('are of every route', () => {
    const { routes } = site.crud;
    const asked = new Set(Object.values(FORMS).map((form) => handlerOf(routes, form)));
    expect(routes.filter(({ handler }) => !asked.has(handler))).to.deep.equal([]);
    const operations = new Set<unknown>(routes.map(({ operation }) => operation));
    const all = [...ENDPOINTS, ...BULK_ENDPOINTS, ...PAST_ENDPOINTS, ...OPTION_ROUTE_NAMES];
    // These two share the routes of `create` and `list`.
    expect(all.filter((each) => !operations.has(each))).to.deep.equal(['upsert', 'export']);
  });

  it('are those of the page', () => {
    const used = new Set([...forms.values()].flatMap(({ constructs }) => [...constructs]));
    const names = ENGINES.map(({ name }) => name);
    const table = [
      `| request | column of the tenant | parts | ${names.join(' | ')} |`,
      `| --- | --- | --- | ${names.map(() => '---').join(' | ')} |`,
      ...[...forms].map(([name, form]) => rowOf(name, form)),
    ];
    const made = `${table.join('\n')}\n\n${ENGINES.map((engine) => limitsOf(engine, used)).join('\n\n')}\n`;
    const file = join(PACKAGE_ROOT, 'docs/engines.md');
    const [head = ''] = readFileSync(file, 'utf8').split('<!-- made');
    const page = `${head}<!-- made by test/feature/executors/hold-against-engines.test.ts -->\n\n${made}`;
    if (process.env['CRUD_TEST_WRITE'] === '1') writeFileSync(file, page);
    expect(readFileSync(file, 'utf8')).to.equal(page);
  });
});
