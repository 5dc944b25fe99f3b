/** Probes without an answer leave nothing behind. */
// @runs fast
import { expect } from 'chai';
import Redis from 'ioredis';
import { Sequelize } from 'sequelize';
import { checkHealth, configureEngine, disposeEngine } from '../../../src/index.js';
import { forSuite } from '../../support/for-suite.js';
import { wholeOr } from '../../support/short.js';
import { startSilentServer } from '../../support/silent-server.js';

const PROBES = wholeOr(200, 1_000);
const AT_ONCE = 50;
const TIMEOUT = 0.005;
/** Milliseconds that a timer of ioredis outlives its connection: in version 5 it ends after two seconds at the latest. */
const OF_IOREDIS = require('ioredis/package.json').version.startsWith('5.') ? 2_500 : 0;

describe(`${PROBES} probes that time out`, () => {
  const silent = forSuite(() => startSilentServer());

  afterEach(() => disposeEngine());

  it('of all three leave no connection and no timer', async () => {
    configureEngine({
      sequelize: new Sequelize(`postgres://ann:secret@127.0.0.1:${silent.port}/atlas`, {
        dialect: 'postgres',
      }),
      clickhouse: `http://ann:secret@127.0.0.1:${silent.port}`,
      // This client has not connected, so it has nothing open itself.
      cache: new Redis(`redis://ann:secret@127.0.0.1:${silent.port}`, { lazyConnect: true }),
    });
    // The timer of the test itself is started when its function has returned.
    await turn();
    const before = resources();
    const accepted = silent.accepted();
    let failed = 0;
    for (let asked = 0; asked < PROBES; asked += AT_ONCE) {
      const reports = await Promise.all(
        Array.from({ length: AT_ONCE }, () => checkHealth({ timeout: TIMEOUT })),
      );
      failed += reports.flatMap(({ components }) => components).filter(({ healthy }) => !healthy).length;
    }
    expect(failed).to.equal(PROBES * 3);
    // The probes have failed for the silence of the server, and not before they were sent. The server may accept their connections only now.
    while (silent.accepted() === accepted) await turn();
    // The server's ends of the connections are in this process as well, and close a little later.
    while (sockets(resources()) > sockets(before)) await turn();
    // Timers of other tests may have run out in the meantime.
    const left = () => Object.entries(resources()).filter(([kind, count]) => count > (before[kind] ?? 0));
    const deadline = performance.now() + OF_IOREDIS;
    while (left().length > 0 && performance.now() < deadline) await turn();
    expect(left()).to.deep.equal([]);
  });
});

function sockets({ TCPSocketWrap = 0, ConnectWrap = 0 }: Record<string, number>): number {
  return TCPSocketWrap + ConnectWrap;
}

/** Lets the event loop turn once. */
function turn(): Promise<void> {
  return new Promise(setImmediate);
}

/** Number of resources that keep the process alive, by kind. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
