/** The health routes over HTTP: their answers, their paths, and the few queries that they send to the back ends. */
// @runs fast
import { once } from 'node:events';
import { Agent, get as request } from 'node:http';
import { expect } from 'chai';
import express from 'express';
import { Sequelize } from 'sequelize';
import supertest from 'supertest';
import {
  type BootstrapOptions,
  bootstrap,
  checkHealth,
  configureEngine,
  disposeEngine,
  healthRouter,
} from '../../../src/index.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { configProblems } from '../../support/config-error.js';
import { expectJson } from '../../support/expect-answer.js';
import { FakeClock } from '../../support/fake-clock.js';
import { forSuite } from '../../support/for-suite.js';
import { type Listening, listen } from '../../support/listen.js';
import { freshDatabase } from '../../support/postgres.js';
import { itWhole } from '../../support/short.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

const NO_CHECKS = { status: 'healthy', checks: [] };
const unhealthy = (error: string) => ({
  status: 'unhealthy',
  checks: [{ name: 'postgres', healthy: false, latency_ms: null, error }],
});

describe('the health routes', () => {
  afterEach(() => disposeEngine());

  describe('of an application with a back end', () => {
    const database = forSuite(() => freshDatabase());
    let gate: TcpProxy;

    beforeEach(async () => {
      gate = await TcpProxy.before(database.url);
      configureEngine({ sequelize: new Sequelize(gate.href, { dialect: 'postgres', logging: false }) });
    });

    afterEach(() => gate.down());

    it('answer 200 and the report when it is up', async () => {
      const { agent } = await buildApp({ models: [] });
      const response = await agent.get('/health/ready');
      const [check] = response.body.checks;
      expect(check.latency_ms).to.be.within(0, 5_000);
      expectJson(response, 200, {
        status: 'healthy',
        checks: [{ name: 'postgres', healthy: true, latency_ms: check.latency_ms, error: null }],
      });
    });

    it('answer 503 and the report when it is down', async () => {
      await gate.down();
      const { agent } = await buildApp({ models: [] });
      expectJson(await agent.get('/health/ready'), 503, unhealthy('connection refused'));
    });

    it('say that the process is alive, without asking anything', async () => {
      const { agent } = await buildApp({ models: [] });
      expectJson(await agent.get('/health/live'), 200, { status: 'alive' });
      await gate.down();
      expectJson(await agent.get('/health/live'), 200, { status: 'alive' });
      expect(gate.connections).to.equal(0);
    });

    it('go by their own timeout', async () => {
      gate.latency(60_000);
      const { agent } = await buildApp({ models: [], health: { timeout: 0.1 } });
      expectJson(await agent.get('/health/ready'), 503, unhealthy('timed out after 0.1 s'));
    });

    itWhole('wait five seconds by default, as a check in code does', async () => {
      gate.latency(60_000);
      const { agent } = await buildApp({ models: [] });
      const [response, report] = await Promise.all([agent.get('/health/ready'), checkHealth()]);
      const late = unhealthy('timed out after 5 s');
      expectJson(response, 503, late);
      expect(report.toJSON()).to.deep.equal(late);
    });

    it('answer 1,000 requests at once from one check', async () => {
      const { app } = await buildApp({ models: [] });
      await using site = await listen(app);
      // All of them are there before the first check can end.
      gate.latency(200);
      const asked = Array.from({ length: 1_000 }, () => statusOf(site, '/health/ready'));
      expect(new Set(await Promise.all(asked))).to.deep.equal(new Set([200]));
      expect(gate.connections).to.be.within(1, 5);
    });

    it('give a result out again for a second, and no longer', async () => {
      const { agent } = await buildApp({ models: [] });
      using clock = new FakeClock();
      const first = await agent.get('/health/ready');
      const second = await agent.get('/health/ready');
      const connections = gate.connections;
      await gate.down();
      await clock.advance(999);
      const stale = await agent.get('/health/ready');
      await clock.advance(1);
      const fresh = await agent.get('/health/ready');
      expect(connections).to.equal(1);
      expect(second.body).to.deep.equal(first.body);
      expect([stale.status, fresh.status]).to.deep.equal([200, 503]);
    });

    it('share nothing with checkHealth, which asks each time', async () => {
      const { agent } = await buildApp({ models: [] });
      await agent.get('/health/ready');
      await checkHealth();
      await checkHealth();
      expect(gate.connections).to.equal(3);
    });

    it('share nothing between two applications', async () => {
      const sites = [await buildApp({ models: [] }), await buildApp({ models: [] })];
      for (const { agent } of sites) await agent.get('/health/ready');
      expect(gate.connections).to.equal(2);
    });
  });

  it('answer 200 without checks when there is no back end, and the log says so once', async () => {
    const log = new CapturedLog();
    const { agent } = await buildApp({ models: [], logger: log });
    expect(log.lines).to.deep.equal([]);
    for (let probe = 0; probe < 2; probe += 1) expectJson(await agent.get('/health/ready'), 200, NO_CHECKS);
    expect(log.lines.map(({ level, message }) => `${level} ${message}`)).to.deep.equal([
      'warn Readiness has nothing to check, because no engine is in use, and says healthy; call engineLifespan(dsn)(app), or ' +
        'configureEngine({ sequelize }) with an instance of your own, or pass health: false.',
    ]);
  });

  for (const path of ['/health/ready', '/health/live']) {
    it(`answer HEAD ${path} without a body`, async () => {
      const { agent } = await buildApp({ models: [] });
      const response = await agent.head(path);
      expect(response.status).to.equal(200);
      expect(response.text ?? '').to.equal('');
      expect(response.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
    });

    for (const variant of [`${path}?verbose=1&x=2`, `${path}/`]) {
      it(`answer ${variant} as ${path}`, async () => {
        const { agent } = await buildApp({ models: [] });
        const [plain, varied] = [await agent.get(path), await agent.get(variant)];
        expectJson(varied, 200, plain.body);
      });
    }
  }

  it('are under their own prefix, not under routePrefix', async () => {
    const { agent } = await buildApp({ models: [], routePrefix: '/api', health: { prefix: '/internal/' } });
    expectJson(await agent.get('/internal/ready'), 200, NO_CHECKS);
    expectJson(await agent.get('/internal/live'), 200, { status: 'alive' });
    for (const path of ['/health/ready', '/api/internal/ready', '/api/health/ready']) {
      expect((await agent.get(path)).status, path).to.equal(404);
    }
  });

  it('may have no prefix at all', async () => {
    const { agent } = await buildApp({ models: [], health: { prefix: '/' } });
    expectJson(await agent.get('/ready'), 200, NO_CHECKS);
  });

  it('leave liveness out when told to', async () => {
    const { agent } = await buildApp({ models: [], health: { includeLiveness: false } });
    expectJson(await agent.get('/health/ready'), 200, NO_CHECKS);
    expect((await agent.get('/health/live')).status).to.equal(404);
  });

  it('take an option that is undefined for one that is not given', async () => {
    const health = { prefix: undefined, timeout: undefined, includeLiveness: undefined } as object;
    const { agent } = await buildApp({ models: [], health });
    expectJson(await agent.get('/health/live'), 200, { status: 'alive' });
  });

  it('are not there when switched off', async () => {
    const { agent } = await buildApp({ models: [], health: false });
    for (const path of ['/health/ready', '/health/live']) {
      expect((await agent.get(path)).status, path).to.equal(404);
    }
  });

  it('are mounted by hand, below any path', async () => {
    const app = express().use('/ops', healthRouter({ prefix: '/checks' }));
    expectJson(await supertest(app).get('/ops/checks/ready'), 200, NO_CHECKS);
    expectJson(await supertest(app).get('/ops/checks/live'), 200, { status: 'alive' });
  });

  const noPrefix = (prefix: string) =>
    `The health prefix "${prefix}" is not a plain path; use one such as '/health'.`;
  const bad: readonly (readonly [options: BootstrapOptions, ...problems: string[]])[] = [
    [{ health: { prefix: '/:name' } }, noPrefix('/:name')],
    [
      { health: { perfix: '/x' } as object },
      "health has no option 'perfix'. Did you mean 'prefix'? The options are prefix, timeout, includeLiveness.",
    ],
    [
      { health: { includeLiveness: 'no' } as object },
      'The health option includeLiveness is "no"; use true or false.',
    ],
    [
      { routePrefix: 'api', health: { prefix: 'x', timeout: -1 } },
      'routePrefix "api" is not a plain path; use one such as \'/api\'.',
      noPrefix('x'),
      'The health timeout is -1; use a number of seconds above 0 and below 2000000.',
    ],
  ];
  for (const [options, ...problems] of bad) {
    it(`are refused by bootstrap for ${JSON.stringify(options)}`, async () => {
      const refused = await configProblems(() => bootstrap(express(), { models: [], ...options }));
      expect(refused).to.deep.equal(problems);
    });
  }

  it('are refused by healthRouter for the same reasons', async () =>
    expect(await configProblems(() => healthRouter({ prefix: 'health', timeout: 0 }))).to.have.length(2));
});

const agent = new Agent({ keepAlive: false });

/** The status of the answer, on a connection of its own. */
async function statusOf({ url }: Listening, path: string): Promise<number | undefined> {
  const [response] = await once(request(new URL(path, url), { agent }), 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
