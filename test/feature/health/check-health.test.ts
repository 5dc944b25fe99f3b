/** Health checks: every back end in every state, and the details that they keep secret. */
// @runs once
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { expect } from 'chai';
import Redis from 'ioredis';
import { type Options, Sequelize } from 'sequelize';
import {
  ComponentHealth,
  type ComponentName,
  checkHealth,
  configureEngine,
  currentEngine,
  disposeEngine,
  engineLifespan,
  HealthReport,
} from '../../../src/index.js';
import { startClickHouse } from '../../support/clickhouse-server.js';
import { configError, configProblems } from '../../support/config-error.js';
import { FakeClock } from '../../support/fake-clock.js';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { startRedis } from '../../support/redis-server.js';
import { startSilentServer } from '../../support/silent-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

/** Seconds: short where the answer is to come too late, and long where it is to come. */
const SHORT = 0.5;
const LONG = 10;
const USER = 'intruder';
const PASSWORD = 'wr0ng-secret';

describe('a health check', () => {
  const database = forSuite(() => freshDatabase());
  const clickhouse = forSuite(() => startClickHouse());
  const redis = forSuite(() => startRedis());

  afterEach(() => disposeEngine());

  /** Configures one back end. PostgreSQL is in every engine; where another one is meant, it is up. */
  const backEnds: Readonly<Record<ComponentName, BackEnd>> = {
    postgres: {
      url: () => database.url,
      configure: (url) => configureEngine({ sequelize: connectTo(url) }),
    },
    clickhouse: {
      url: () => clickhouse.url,
      configure: (url, postgres) => configureEngine({ sequelize: connectTo(postgres), clickhouse: url }),
    },
    cache: {
      url: () => redis.url,
      configure: (url, postgres) => configureEngine({ sequelize: connectTo(postgres), cache: url }),
    },
  };

  /**
   * The report of a check that ends at its timeout and no earlier. The time passes when all have answered that do, however
   * long that takes.
   */
  async function reportAtTimeout(seconds: number, haveAnswered: () => boolean): Promise<HealthReport> {
    using clock = new FakeClock();
    let isOver = false;
    const report = checkHealth({ timeout: seconds }).finally(() => {
      isOver = true;
    });
    await clock.advance(1);
    while (!haveAnswered()) await nextTurn();
    await clock.advance(seconds * 1000 - 2);
    expect(isOver).to.equal(false);
    await clock.advance(1);
    return report;
  }

  it('asks every engine that is in use', async () => {
    await using gate = await TcpProxy.before(database.url);
    await gate.down();
    configureEngine({ sequelize: connectTo(database.url) });
    configureEngine({ sequelize: connectTo(gate.href) });
    expect(timeless(await checkHealth({ timeout: LONG }))).to.deep.equal({
      status: 'unhealthy',
      checks: [healthy('postgres'), unhealthy('postgres', 'connection refused')],
    });
  });

  for (const [name, { url, configure }] of Object.entries(backEnds) as [ComponentName, BackEnd][]) {
    describe(`of ${name}`, () => {
      const others = name === 'postgres' ? [] : [healthy('postgres')];
      const allHealthy = { status: 'healthy', checks: [...others, healthy(name)] };

      /** The whole report when this back end fails for the reason. */
      function failing(error: string) {
        return { status: 'unhealthy', checks: [...others, unhealthy(name, error)] };
      }

      it('[F1] says that the connection is refused when nothing listens, and notices when it comes up', async () => {
        await using gate = await TcpProxy.before(url());
        await gate.down();
        configure(gate.href, database.url);
        const refused = timeless(await checkHealth({ timeout: LONG }));
        await gate.up();
        const open = timeless(await checkHealth({ timeout: LONG }));
        expect({ refused, open }).to.deep.equal({ refused: failing('connection refused'), open: allHealthy });
      });

      it('notices when it stops, and when it is there again', async () => {
        await using gate = await TcpProxy.before(url());
        configure(gate.href, database.url);
        const before = timeless(await checkHealth({ timeout: LONG }));
        await gate.down();
        const during = await checkHealth({ timeout: LONG });
        await gate.up();
        const after = timeless(await checkHealth({ timeout: LONG }));
        expect({ before, after }).to.deep.equal({ before: allHealthy, after: allHealthy });
        // A client may have kept a connection, and learn of its end by using it.
        const error = errorsOf(during).at(-1) ?? '';
        expect(error).to.be.oneOf(['connection refused', 'connection lost']);
        expect(timeless(during)).to.deep.equal(failing(error));
      });

      it('says that the connection is lost when it ends before the answer', async () => {
        await using gate = await TcpProxy.before(url());
        configure(gate.href, database.url);
        gate.latency(LONG * 1000);
        const report = checkHealth({ timeout: LONG });
        while (gate.openConnections === 0) await new Promise(setImmediate);
        await gate.down();
        expect(timeless(await report)).to.deep.equal(failing('connection lost'));
      });

      it('ends at the timeout when it accepts and says nothing', async () => {
        await using silent = await startSilentServer();
        await using other = await TcpProxy.before(database.url);
        configure(withAddress(url(), silent.port), other.href);
        const othersAnswered = name === 'postgres' ? () => true : answerThrough(other);
        const report = await reportAtTimeout(SHORT, () => silent.accepted() > 0 && othersAnswered());
        expect(timeless(report)).to.deep.equal(failing('timed out after 0.5 s'));
      });

      it('measures how long the answer takes', async () => {
        await using gate = await TcpProxy.before(url());
        gate.latency(50);
        configure(gate.href, database.url);
        const component = (await checkHealth({ timeout: LONG })).components.at(-1);
        expect(component?.latencyMs).to.be.within(50, 5_000);
      });

      it('says that credentials are wrong', async () => {
        const wrong = new URL(url());
        wrong.username = USER;
        wrong.password = PASSWORD;
        configure(wrong.href, database.url);
        const report = timeless(await checkHealth({ timeout: LONG }));
        expect(report).to.deep.equal(failing('authentication failed'));
      });

      it('leaves no connection open', async () => {
        await using gate = await TcpProxy.before(url());
        configure(gate.href, database.url);
        await checkHealth({ timeout: LONG });
        await disposeEngine();
        await gate.untilAlone();
        expect(gate.openConnections).to.equal(0);
        expect(gate.connections).to.be.above(0);
      });
    });
  }

  it('is healthy and has no components when no engine is configured', async () => {
    const report = await checkHealth();
    expect(report.toJSON()).to.deep.equal({ status: 'healthy', checks: [] });
    expect(report.healthy).to.equal(true);
    expect(report.components).to.deep.equal([]);
  });

  it('asks all three, in this order', async () => {
    configureEngine({ sequelize: connectTo(database.url), clickhouse: clickhouse.url, cache: redis.url });
    await expectHealthy('postgres', 'clickhouse', 'cache');
  });

  it('takes one timeout, not three, when all three are silent', async () => {
    await using silent = await startSilentServer();
    configureEngine({
      sequelize: connectTo(withAddress(database.url, silent.port)),
      clickhouse: withAddress(clickhouse.url, silent.port),
      cache: withAddress(redis.url, silent.port),
    });
    const report = await reportAtTimeout(1, () => silent.accepted() === 3);
    const names = ['postgres', 'clickhouse', 'cache'] as const;
    const checks = names.map((name) => unhealthy(name, 'timed out after 1 s'));
    expect(timeless(report)).to.deep.equal({ status: 'unhealthy', checks });
  });

  it('tells no host, user, password or database of a back end that fails', async () => {
    await using gate = await TcpProxy.before(redis.url);
    await gate.down();
    const reports: string[] = [];
    for (const address of [gate.href, database.url, clickhouse.url, 'redis://no-such-host.invalid:6379']) {
      const { hostname, port } = new URL(address);
      configureEngine({
        sequelize: connectTo(`postgres://${USER}:${PASSWORD}@${hostname}:${port}/ledger`),
        clickhouse: `http://${USER}:${PASSWORD}@${hostname}:${port}/ledger`,
        cache: `redis://${USER}:${PASSWORD}@${hostname}:${port}`,
      });
      const report = await checkHealth({ timeout: SHORT });
      expect(report.components.map((component) => component.healthy)).to.deep.equal([false, false, false]);
      reports.push(JSON.stringify(report));
      await disposeEngine();
    }
    expect(reports.join('\n')).to.not.match(
      /intruder|wr0ng|ledger|localhost|invalid|127\.0\.0\.1|::1|:\d{4,5}\b|SELECT/,
    );
  });

  it('records a Sequelize instance that cannot even be looked at', async () => {
    configureEngine({ sequelize: {} as Sequelize });
    expect(timeless(await checkHealth())).to.deep.equal({
      status: 'unhealthy',
      checks: [unhealthy('postgres', 'failed')],
    });
  });

  it('gives frozen reports, with a component in JSON as it is in code', async () => {
    configureEngine({ sequelize: connectTo(database.url) });
    const report = await checkHealth({ timeout: LONG });
    const [component] = report.components;
    expect(report).to.be.an.instanceOf(HealthReport);
    expect(component).to.be.an.instanceOf(ComponentHealth);
    for (const each of [report, report.components, component]) expect(each).to.be.frozen;
    expect(component).to.include({ name: 'postgres', healthy: true, error: null });
    const json = { name: 'postgres', healthy: true, latency_ms: component?.latencyMs, error: null };
    expect(JSON.parse(JSON.stringify(component))).to.deep.equal(json);
  });

  for (const timeout of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 3_000_000, '5']) {
    it(`refuses a timeout of ${typeof timeout === 'string' ? `'${timeout}'` : timeout}`, async () =>
      expect(await configError(() => checkHealth({ timeout: timeout as number }))).to.equal(
        `The health timeout is ${timeout}; use a number of seconds above 0 and below 2000000.`,
      ));
  }

  describe('of a pool', () => {
    it('is healthy while all its connections are in use', async () => {
      await engineLifespan(database.url, { models: [], pool: { max: 1, acquire: 3_000 } })();
      const { sequelize } = currentEngine();
      const writing = await sequelize.transaction();
      const reading = await sequelize.transaction({ readOnly: true });
      await sequelize.query('SELECT 1', { transaction: reading });
      await expectHealthy('postgres').finally(() => Promise.all([writing.rollback(), reading.rollback()]));
    });

    it('waits longer than the connections of the pool may', async () => {
      await using gate = await TcpProxy.before(database.url);
      const dialectOptions = { connectionTimeoutMillis: 100, query_timeout: 100 };
      configureEngine({ sequelize: connectTo(gate.href, { dialectOptions }) });
      gate.latency(200);
      await expectHealthy('postgres');
    });

    it('gets the credentials that a hook provides', async () => {
      const { username, password } = new URL(database.url);
      const wrong = new URL(database.url);
      wrong.username = USER;
      wrong.password = PASSWORD;
      const beforeConnect = (config: object) =>
        void Object.assign(config, { username, password: decodeURIComponent(password) });
      configureEngine({ sequelize: connectTo(wrong.href, { hooks: { beforeConnect } }) });
      await expectHealthy('postgres');
    });
  });

  describe('of replicas', () => {
    let primary: TcpProxy;
    let first: TcpProxy;
    let second: TcpProxy;

    beforeEach(async () => {
      primary = await TcpProxy.before(database.url);
      first = await TcpProxy.before(database.url);
      second = await TcpProxy.before(database.url);
      const replicas = [first.href, second.href, primary.href];
      await engineLifespan(primary.href, { models: [], replicas })();
    });

    afterEach(async () => {
      await disposeEngine();
      await Promise.all([primary.down(), first.down(), second.down()]);
    });

    it('asks every server once', async () => {
      const before = [primary.connections, first.connections, second.connections];
      await expectHealthy('postgres');
      const after = [primary.connections, first.connections, second.connections];
      expect(after).to.deep.equal(before.map((count) => count + 1));
    });

    it('says how many do not answer', async () => {
      for (const [index, server] of [first, second, primary].entries()) {
        await server.down();
        const told = `${index + 1} of 3 servers: connection refused`;
        expect(errorsOf(await checkHealth({ timeout: LONG }))).to.deep.equal([told]);
      }
    });

    it('says how many are silent, and does not wait longer for them', async () => {
      first.latency(60_000);
      const before = first.connections;
      const others = [primary, second].map(answerThrough);
      const report = await reportAtTimeout(
        SHORT,
        () => first.connections > before && others.every((hasAnswered) => hasAnswered()),
      );
      expect(errorsOf(report)).to.deep.equal(['1 of 3 servers: timed out after 0.5 s']);
    });
  });

  describe('of clients', () => {
    it('takes those of the user, and leaves them open', async () => {
      const columns = createClient({ url: clickhouse.url });
      const cache = new Redis(redis.url);
      const engine = configureEngine({ sequelize: connectTo(database.url), clickhouse: columns, cache });
      const report = timeless(await checkHealth({ timeout: LONG }));
      expect(engine.clickhouse).to.equal(columns);
      expect(engine.cache).to.equal(cache);
      await disposeEngine();
      const answers = [await cache.ping(), (await columns.ping({ select: true })).success];
      await Promise.all([columns.close(), cache.quit()]);
      expect(answers).to.deep.equal(['PONG', true]);
      expect(report.status).to.equal('healthy');
    });

    it('closes its own with the engine', async () => {
      await using columns = await TcpProxy.before(clickhouse.url);
      await using cache = await TcpProxy.before(redis.url);
      const others = { clickhouse: columns.href, cache: cache.href };
      const engine = await engineLifespan(database.url, { models: [], ...others })();
      const rows = await engine.clickhouse?.query({ query: 'SELECT 1 AS one', format: 'JSONEachRow' });
      expect(await rows?.json()).to.deep.equal([{ one: 1 }]);
      await engine[Symbol.asyncDispose]();
      await Promise.all([columns.untilAlone(), cache.untilAlone()]);
      // The server's end may be seen before the client's own; one that stays open ends in the test's timeout.
      while (engine.cache?.status !== 'end') await new Promise(setImmediate);
    });

    it('does not wait for one of the user that keeps commands until it is connected', async () => {
      await using gate = await TcpProxy.before(redis.url);
      await gate.down();
      const cache = new Redis(gate.href, { maxRetriesPerRequest: null });
      cache.on('error', () => {});
      configureEngine({ sequelize: connectTo(database.url), cache });
      const report = await checkHealth({ timeout: LONG });
      cache.disconnect();
      expect(errorsOf(report)).to.deep.equal([null, 'connection refused']);
    });

    it('is healthy while all connections of its own to ClickHouse are busy', async () => {
      await using gate = await TcpProxy.before(clickhouse.url);
      const sequelize = connectTo(database.url);
      const { clickhouse: columns } = configureEngine({ sequelize, clickhouse: gate.href });
      gate.latency(60_000);
      const slow = Array.from({ length: 10 }, () => columns?.query({ query: 'SELECT 1' }));
      const ends = Promise.allSettled(slow);
      while (gate.connections < slow.length) await new Promise(setImmediate);
      gate.latency(0);
      await expectHealthy('postgres', 'clickhouse');
      await gate.down();
      await ends;
    });

    it('has connected its own to the cache when a lifespan has started', async () => {
      await using gate = await TcpProxy.before(redis.url);
      gate.latency(100);
      const { cache } = await engineLifespan(database.url, { models: [], cache: gate.href })();
      expect(await cache?.echo('at once')).to.equal('at once');
    });

    it('lets its own never wait longer than a second before it connects to the cache again', async () => {
      const { cache } = await engineLifespan(database.url, { models: [], cache: redis.url })();
      const { retryStrategy } = (cache as Redis).options;
      expect([1, 10, 1_000].map((attempts) => retryStrategy?.(attempts))).to.deep.equal([50, 500, 1_000]);
    });

    it('starts without a cache that cannot be reached', async () => {
      await using gate = await TcpProxy.before(redis.url);
      await gate.down();
      await engineLifespan(database.url, { models: [], cache: gate.href })();
      expect(errorsOf(await checkHealth({ timeout: LONG }))).to.deep.equal([null, 'connection refused']);
    });

    it('starts without a cache that says nothing, after two seconds', async () => {
      await using silent = await startSilentServer();
      const start = performance.now();
      await engineLifespan(database.url, { models: [], cache: `redis://127.0.0.1:${silent.port}` })();
      expect(performance.now() - start).to.be.within(1_990, 5_000);
      expect(silent.accepted()).to.be.above(0);
    });

    it('says that a password is missing, or wrong', async () => {
      const guarded = await startRedis({ password: 'letmein' });
      const { host } = new URL(guarded.url);
      const errors: unknown[] = [];
      for (const url of [guarded.url, `redis://${host}`, `redis://:${PASSWORD}@${host}`]) {
        configureEngine({ sequelize: connectTo(database.url), cache: url });
        errors.push(errorsOf(await checkHealth({ timeout: LONG }))[1]);
        await disposeEngine();
      }
      await guarded[Symbol.asyncDispose]();
      expect(errors).to.deep.equal([null, 'authentication failed', 'authentication failed']);
    });

    const CLICKHOUSE = 'use one that begins with http:// or https://';
    const CACHE = 'use one that begins with redis:// or rediss://';
    const bad: readonly (readonly [urls: object, ...problems: string[]])[] = [
      [
        { clickhouse: 'clickhouse://ann:s3cret@localhost' },
        `The engine option clickhouse begins with 'clickhouse:'; ${CLICKHOUSE}.`,
      ],
      [
        { clickhouse: 'http://ann:s3cret@localhost:99999' },
        `The engine option clickhouse cannot be read for certain; ${CLICKHOUSE}, with its user and ` +
          'password percent-encoded, as encodeURIComponent does (%40 for @, %2F for /, %23 for #, %3F for ?, %25 for %).',
      ],
      [
        { clickhouse: 'http://ann:s3cret@localhost:8123?sekret=s3cret' },
        'The engine option clickhouse has a parameter that @clickhouse/client does not accept; correct it.',
      ],
      [{ cache: 'http://ann:s3cret@localhost' }, `The engine option cache begins with 'http:'; ${CACHE}.`],
      [
        { cache: '' },
        `The engine option cache is empty: the environment variable that it comes from is not set; ${CACHE}.`,
      ],
      [
        { cache: 's3cret', clickhouse: 's3cret' },
        `The engine option clickhouse is not a URL; ${CLICKHOUSE}.`,
        `The engine option cache is not a URL; ${CACHE}.`,
      ],
    ];
    for (const [urls, ...problems] of bad) {
      it(`refuses ${JSON.stringify(urls)} without showing the password`, async () => {
        const options = { sequelize: connectTo(database.url), ...urls };
        expect(await configProblems(() => configureEngine(options))).to.deep.equal(problems);
      });
    }

    it('are checked before a lifespan connects to anything', async () => {
      await using gate = await TcpProxy.before(database.url);
      await configError(engineLifespan(gate.href, { models: [], cache: 'nowhere' }));
      expect(gate.connections).to.equal(0);
    });
  });
});

interface BackEnd {
  url(): string;
  /** @param postgres the address of PostgreSQL, where that is not the one that is meant */
  configure(url: string, postgres: string): void;
}

/** Returns a function that is true once the server behind a gate has answered another check: a check closes its connection then. */
function answerThrough(gate: TcpProxy): () => boolean {
  const { connections, openConnections } = gate;
  return () => gate.connections > connections && gate.openConnections === openConnections;
}

/** An instance that has not connected yet. */
function connectTo(url: string, options: Options = {}): Sequelize {
  return new Sequelize(url, { dialect: 'postgres', logging: false, ...options });
}

function withAddress(url: string, port: number): string {
  const moved = new URL(url);
  moved.hostname = '127.0.0.1';
  moved.port = String(port);
  return moved.href;
}

function healthy(name: ComponentName) {
  return { name, healthy: true, latency_ms: 'measured', error: null };
}

function unhealthy(name: ComponentName, error: string) {
  return { name, healthy: false, latency_ms: null, error };
}

async function expectHealthy(...names: readonly ComponentName[]): Promise<void> {
  const report = timeless(await checkHealth({ timeout: LONG }));
  expect(report).to.deep.equal({ status: 'healthy', checks: names.map(healthy) });
}

/** The JSON of a report, with a fixed word in the place of each time. */
function timeless(report: HealthReport) {
  const { status, checks } = report.toJSON();
  return {
    status,
    checks: checks.map((check) => ({
      ...check,
      latency_ms: check.latency_ms === null ? null : check.latency_ms > 0 ? 'measured' : check.latency_ms,
    })),
  };
}

function errorsOf({ components }: HealthReport): (string | null)[] {
  return components.map(({ error }) => error);
}
