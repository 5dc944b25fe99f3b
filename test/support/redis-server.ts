/** A real Redis for the tests: `redis-server` on a free port, or the one of REDIS_URL. */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import Redis from 'ioredis';
import { findFreePort } from '../../sample/support/free-port.js';
import { installPackage, isThere } from './install-package.js';
import { Program } from './program.js';
import { createTemporaryFolder } from './temporary-folder.js';

/** A running Redis. */
export interface RedisServer extends AsyncDisposable {
  /** With its password. */
  readonly url: string;
}

const READY = 'Ready to accept connections';

/**
 * Starts a server. Given a password, or as a cluster of one node, it is one of our own even where REDIS_URL is set, since
 * that one has its own rules.
 */
export async function startRedis({ password = '', isCluster = false } = {}): Promise<RedisServer> {
  const { REDIS_URL } = process.env;
  if (REDIS_URL && !password && !isCluster) return { url: REDIS_URL, [Symbol.asyncDispose]: async () => {} };
  provide();
  const folder = await createTemporaryFolder('redis');
  const port = await findFreePort();
  const settings = { port, bind: '127.0.0.1', dir: folder.path, save: '', appendonly: 'no' };
  const flags = Object.entries({
    ...settings,
    ...(password ? { requirepass: password } : {}),
    ...(isCluster ? await clusterSettings() : {}),
  });
  const program = new Program(
    flags.flatMap(([name, value]) => [`--${name}`, String(value)]),
    // Its own group: the Ctrl-C of the terminal ends the tests, and the tests end the server.
    { command: 'redis-server', detached: true },
  );
  await program.untilPrinted(READY);
  if (isCluster) await takeAllSlots(port);
  return {
    url: `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      folder.remove();
    },
  };
}

/** By itself it would take the port and 10000 for its bus, which may be above the highest port, and announce no address. */
async function clusterSettings(): Promise<Record<string, string | number>> {
  return {
    'cluster-enabled': 'yes',
    'cluster-announce-ip': '127.0.0.1',
    'cluster-port': await findFreePort(),
  };
}

/** Until then, a cluster is down. */
async function takeAllSlots(port: number): Promise<void> {
  const node = new Redis(port, '127.0.0.1');
  await node.cluster('ADDSLOTSRANGE', 0, 16_383);
  while (!String(await node.cluster('INFO')).includes('cluster_state:ok')) await sleep(50);
  node.disconnect();
}

/** Makes sure that there is a `redis-server`. */
function provide(): void {
  if (isThere('redis-server')) return;
  installPackage('redis-server');
  // The package brings a service. Where there is no service manager this fails, and nothing runs that had to be stopped.
  spawnSync('systemctl', ['disable', '--now', 'redis-server'], { stdio: 'ignore' });
  if (isThere('redis-server')) return;
  throw new Error(
    'The tests need redis-server. Install it (Debian: sudo apt-get install redis-server; macOS: brew install redis), ' +
      'or set REDIS_URL to a Redis of your own.',
  );
}
