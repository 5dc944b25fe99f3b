/** The health check of a Redis Cluster, which is always a client of the user's. */
// @runs once
import { expect } from 'chai';
import { Cluster } from 'ioredis';
import { Sequelize } from 'sequelize';
import { checkHealth, configureEngine, currentEngine, disposeEngine } from '../../../src/index.js';
import { forSuite } from '../../support/for-suite.js';
import { freshDatabase } from '../../support/postgres.js';
import { startRedis } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

describe('a health check of a Redis Cluster', () => {
  const database = forSuite(() => freshDatabase());
  const redis = forSuite(() => startRedis({ isCluster: true }));
  let gate: TcpProxy;
  let cluster: Cluster;

  beforeEach(async () => {
    gate = await TcpProxy.before(redis.url);
  });

  afterEach(async () => {
    await disposeEngine();
    cluster.disconnect();
    await gate.down();
  });

  /** Reaches its node through the gate. */
  function configure(options: { lazyConnect?: boolean } = {}): void {
    const [own, through] = [new URL(redis.url), new URL(gate.href)];
    cluster = new Cluster([gate.href], {
      natMap: { [own.host]: { host: through.hostname, port: Number(through.port) } },
      clusterRetryStrategy: () => 50,
      ...options,
    });
    cluster.on('error', () => {});
    configureEngine({ sequelize: new Sequelize(database.url, { logging: false }), cache: cluster });
  }

  /** Errors in between are those of earlier attempts. */
  function untilReady(): Promise<void> {
    return new Promise((resolve) => cluster.once('ready', resolve));
  }

  it('is healthy when its masters answer', async () => {
    configure();
    await untilReady();
    expect(await checkCache()).to.deep.equal({ status: 'healthy', error: null });
    expect(await currentEngine().cache?.set('city', 'Lyon')).to.equal('OK');
  });

  it('is healthy before a client has been used that connects at its first command', async () => {
    configure({ lazyConnect: true });
    expect(await checkCache()).to.deep.equal({ status: 'healthy', error: null });
  });

  it('notices when it stops, and when it is there again', async () => {
    configure();
    await untilReady();
    await gate.down();
    const during = await checkCache();
    const ready = untilReady();
    await gate.up();
    await ready;
    expect(during.status).to.equal('unhealthy');
    expect(during.error).to.be.oneOf(['connection refused', 'connection lost']);
    expect(await checkCache()).to.deep.equal({ status: 'healthy', error: null });
  });

  it('ends at the timeout when it says nothing', async () => {
    configure();
    await untilReady();
    gate.latency(60_000);
    expect(await checkCache(0.2)).to.deep.equal({ status: 'unhealthy', error: 'timed out after 0.2 s' });
  });
});

async function checkCache(timeout = 10) {
  const { status, checks } = (await checkHealth({ timeout })).toJSON();
  return { status, error: checks.find(({ name }) => name === 'cache')?.error };
}
