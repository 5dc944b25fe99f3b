/** Measures what requests cost PostgreSQL where a table has partitions on several servers, or many on one. */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startApplication } from '../../sample/shards/application.js';
import { type Shard, startShards } from '../../sample/shards/servers.js';
import { dataFolder } from '../../sample/support/postgres-server.js';
import { readPostmaster } from '../../sample/support/postmaster-file.js';
import { createTemporaryFolder } from '../../test/support/temporary-folder.js';
import type { Call } from '../load/call.js';
import { createRandom } from '../load/random.js';
import { loadWith, writeRequests } from '../load/wrk.js';
import { SETTINGS } from '../measure/database.js';
import { processorTimeOfFamily } from '../measure/processor-time.js';
import type { Options } from '../options.js';
import { describeMachine } from '../report/machine.js';
import { definitions, table } from '../report/markdown.js';
import { spreadOf, writeMicroseconds } from '../report/statistics.js';
import { say } from '../say.js';
import { writeResults } from '../write-results.js';

const TENANTS = Array.from({ length: 16 }, (_, index) => index + 1);
/** Orders of each tenant. */
const ROWS = 1_000;
const VARIETY = 5_000;
/** Ids without a tenant in the path need a foreign partition at the start: one server has the partition of a tenant without requests. */
const UNUSED = [TENANTS.length + 1];
const SPLIT = `ALTER TABLE orders DETACH PARTITION orders_here; ${TENANTS.map(
  (tenant) =>
    `CREATE TABLE orders_${tenant} PARTITION OF orders (PRIMARY KEY (tenant_id, id)) FOR VALUES IN (${tenant});`,
).join(' ')}`;
/** A partition that is foreign would decide which plans PostgreSQL keeps. */
const ALONE = 'ALTER TABLE orders DETACH PARTITION orders_far_2';
/** Milliseconds after a load, until no statement is under way. */
const REST = 300;

/** Measures, and writes the results. @returns true where all requests were answered */
export async function runServers(options: Options, command: readonly string[]): Promise<boolean> {
  const lines: string[][] = [];
  for (const count of [1, 2, 3]) {
    const tenants = Array.from({ length: count }, (_, at) => TENANTS.filter((each) => each % count === at));
    await using cluster = await startShards(count === 1 ? [TENANTS, UNUSED] : tenants, SETTINGS);
    lines.push(
      ...(await measure(
        cluster.shards.slice(0, count),
        options,
        count === 1 ? 'one server' : `${count} servers`,
      )),
    );
  }
  const partitions: string[][] = [];
  let version = '';
  for (const count of [1, TENANTS.length]) {
    await using cluster = await startShards([TENANTS, UNUSED], SETTINGS);
    const [front] = cluster.shards as readonly [Shard, ...Shard[]];
    await front.query('ALTER DATABASE postgres RESET plan_cache_mode');
    if (count > 1) await front.query(SPLIT);
    version = Object(await front.query('SHOW server_version'))[0].server_version;
    partitions.push(
      ...(await measure([front], options, count === 1 ? 'one partition' : `${count} partitions`, ALONE)),
    );
  }
  const { rounds, seconds, connections } = options.schedule;
  const name = options.isPartial ? 'partial-servers' : 'servers';
  const head = ['', 'first server µs', 'busiest other server µs', 'busiest µs'];
  const md = [
    '# Partitions and servers',
    `Processor time of PostgreSQL in microseconds for each request to [the sample](../../sample/shards/README.md), with ${TENANTS.length} tenants of ${ROWS.toLocaleString('en')} orders. The one tenant is of the last server. Medians of ${rounds} rounds of ${seconds} s, in parentheses the lowest and the highest round; ${connections} clients. A list has 20 orders, and counts all of the tenant. Each step has servers of its own, so its rounds are not in turn with those of others.`,
    definitions(describeMachine(process.versions.node, version, command)),
    '## Servers',
    'The application has the first server alone, which plans each statement anew (`force_custom_plan`) and reaches the others by `postgres_fdw`.',
    table(head, lines),
    '## Partitions of one server',
    'Plans are those of PostgreSQL without settings.',
    table(
      head.toSpliced(1, 2),
      partitions.map((line) => line.toSpliced(1, 2)),
    ),
  ].join('\n\n');
  await writeResults(name, { md: `${md}\n` });
  return ![...lines, ...partitions].flat().includes('failed');
}

/** A line for each kind of request. @param afterStart a statement for the first server */
async function measure(
  shards: readonly Shard[],
  options: Options,
  step: string,
  afterStart = '',
): Promise<string[][]> {
  const [front] = shards as readonly [Shard, ...Shard[]];
  for (const tenant of TENANTS)
    await front.query(
      `INSERT INTO orders SELECT ${tenant}, ${tenant * ROWS} + n, 'an order' FROM generate_series(1, ${ROWS}) n`,
    );
  for (const { query } of shards) await query('VACUUM ANALYZE');
  // Without a name it leaves foreign tables out.
  await front.query('ANALYZE orders');
  const site = await startApplication(front.url, 0, { indexAdvice: false });
  const folder = await createTemporaryFolder('bench-requests');
  try {
    await front.query(afterStart);
    const found: string[][] = [];
    for (const [title, tenants] of [
      ...(shards.length > 1 ? [['a tenant of the first server', front.tenants.slice(0, 1)] as const] : []),
      ['one tenant', (shards.at(-1)?.tenants ?? []).slice(0, 1)],
      ['all tenants in turn', TENANTS],
    ] as const)
      for (const kind of ['read', 'list20'] as const) {
        const requests = join(folder.path, `${kind}.txt`);
        await writeRequests(requests, callsOf(kind, tenants));
        const line = await measureLine(shards, options, { port: Number(new URL(site.url).port), requests });
        found.push([`${kind} of ${title}: ${step}`, ...line]);
        say(found.at(-1)?.join('  ') ?? '');
      }
    return found;
  } finally {
    const closed = once(site.server, 'close');
    site.server.close();
    await closed;
    await site.engine[Symbol.asyncDispose]();
    folder.remove();
  }
}

function callsOf(kind: 'read' | 'list20', tenants: readonly number[]): Call[] {
  const random = createRandom(1);
  return Array.from({ length: VARIETY }, (_, at) => {
    const tenant = tenants[at % tenants.length] ?? 0;
    const id = tenant * ROWS + 1 + Math.floor(random() * ROWS);
    return {
      method: 'GET',
      path: kind === 'read' ? `/orders/${id}` : '/orders?size=20',
      headers: { Tenant: String(tenant) },
    };
  });
}

/** Medians of the first server, of the busiest other one, and of the busiest of all. */
async function measureLine(
  shards: readonly Shard[],
  { schedule }: Options,
  load: { readonly port: number; readonly requests: string },
): Promise<string[]> {
  const rounds: number[][] = [];
  const { connections, seconds, warmUp } = schedule;
  for (let round = 0; round < schedule.rounds; round += 1) {
    if (warmUp > 0) await loadWith({ ...load, connections, seconds: warmUp, isWarmUp: true });
    await delay(REST);
    const before = await timesOf(shards);
    const { requests, refused, broken } = await loadWith({ ...load, connections, seconds, isWarmUp: false });
    await delay(REST);
    const after = await timesOf(shards);
    if (refused + broken > 0) return ['failed', 'failed', 'failed'];
    rounds.push(after.map((time, at) => (time - (before[at] ?? 0)) / requests));
  }
  const cell = (figure: (costs: readonly number[]) => number) =>
    writeMicroseconds(spreadOf(rounds.map(figure)));
  return [
    cell(([first = 0]) => first),
    shards.length > 1 ? cell(([, ...others]) => Math.max(...others)) : '–',
    cell((costs) => Math.max(...costs)),
  ];
}

/** Microseconds of each server. */
async function timesOf(shards: readonly Shard[]): Promise<number[]> {
  const servers = await Promise.all(shards.map(({ folder }) => readPostmaster(dataFolder(folder))));
  return servers.map((server) => processorTimeOfFamily(server?.pid ?? 0));
}
