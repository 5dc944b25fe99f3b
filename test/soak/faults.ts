/** Faults of the soak: each begins, and its end is a function. */
import { Client } from 'pg';
import type { Dice } from '../support/dice.js';
import type { OwnPostgres } from '../support/own-postgres.js';
import { execute } from '../support/postgres.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import type { BackEnds } from './back-ends.js';
import { MARK } from './models.js';
import type { BackEnd } from './witness.js';

/** A kind of fault. */
export interface Fault {
  readonly name: string;
  readonly hits: BackEnd;
  /** Begins it. @returns a function that ends it */
  begin(backEnds: BackEnds, dice: Dice): Promise<() => unknown>;
  /** Milliseconds that it lasts at least. Default: 0. */
  readonly least?: number;
}

const OF_THE_APPLICATION = "pid <> pg_backend_pid() AND backend_type = 'client backend'";
/** The name of the connections that leave none to the application. */
const FILL = 'fill';

/** All of them. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'kill back ends',
    hits: 'postgres',
    async begin({ postgres }, dice) {
      const share = dice.pick([0.3, 0.7, 1]);
      await execute(
        postgres.url('postgres'),
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OF_THE_APPLICATION} AND random() < ${share}`,
      );
      return () => {};
    },
  },
  {
    name: 'restart PostgreSQL',
    hits: 'postgres',
    async begin({ postgres }) {
      await postgres.crash();
      return async () => {
        postgres.proxy.heal();
        await postgres.start();
      };
    },
  },
  {
    name: 'freeze PostgreSQL',
    hits: 'postgres',
    // Longer than a query is waited for.
    least: 2_200,
    begin: ({ postgres }) => postgres.freeze(),
  },
  {
    name: 'reset connections',
    hits: 'postgres',
    async begin({ postgres: { proxy } }) {
      proxy.reset();
      return () => proxy.reset();
    },
  },
  {
    name: 'cut connections in an answer',
    hits: 'postgres',
    async begin({ postgres: { proxy } }, dice) {
      proxy.limitMoreData(dice.roll(2_000), dice.pick(['end', 'reset']));
      return () => proxy.heal();
    },
  },
  {
    name: 'lose answers to writes',
    hits: 'postgres',
    async begin({ postgres: { proxy } }) {
      // A write has the text that it stores.
      proxy.loseReplyTo(MARK);
      return () => proxy.heal();
    },
  },
  {
    name: 'delay connections',
    hits: 'postgres',
    async begin({ postgres: { proxy } }, dice) {
      proxy.latency(10 + dice.roll(90));
      return () => proxy.heal();
    },
  },
  {
    name: 'fill the connection limit',
    hits: 'postgres',
    async begin({ postgres }) {
      const clients = await takeAllConnections(postgres);
      await clients[0]?.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OF_THE_APPLICATION} AND application_name <> '${FILL}'`,
      );
      clients.push(...(await takeAllConnections(postgres)));
      return () => Promise.all(clients.map((client) => client.end()));
    },
  },
  { name: 'stop Redis', hits: 'redis', begin: ({ redis }) => takeDown(redis) },
  { name: 'stop ClickHouse', hits: 'clickhouse', begin: ({ clickhouse }) => takeDown(clickhouse) },
];

async function takeDown(proxy: TcpProxy): Promise<() => Promise<void>> {
  await proxy.down();
  return () => proxy.up();
}

/** Until the server refuses one more. */
async function takeAllConnections(postgres: OwnPostgres): Promise<Client[]> {
  const clients: Client[] = [];
  for (;;) {
    const client = new Client({
      connectionString: postgres.url('postgres'),
      application_name: FILL,
    });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch {
      return clients;
    }
    clients.push(client);
  }
}
