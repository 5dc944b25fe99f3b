/** Three PostgreSQL servers. The first one has the partitioned tables, and reaches the rows of the others by `postgres_fdw`. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type PostgresServerOptions, startPostgresServer } from '../support/postgres-server.js';

/** A server of some tenants. */
export interface Shard {
  readonly url: string;
  readonly tenants: readonly number[];
  /** It has the data of the server, and its log. */
  readonly folder: string;
  /** All that it has written into its log, which has each statement. */
  log(): Promise<string>;
  query(text: string): Promise<readonly object[]>;
  stop(): Promise<void>;
  /** Starts it again, on its port. */
  start(): Promise<void>;
}

const TENANTS = [
  [1, 4],
  [2, 5],
  [3, 6],
];

const COLUMNS: Readonly<Record<string, string>> = {
  orders: 'tenant_id int NOT NULL, id int NOT NULL, title text NOT NULL, PRIMARY KEY (tenant_id, id)',
  order_lines:
    'tenant_id int NOT NULL, id int NOT NULL, order_id int NOT NULL, text text NOT NULL, PRIMARY KEY (tenant_id, id), ' +
    'FOREIGN KEY (tenant_id, order_id) REFERENCES orders',
};
const TABLES = Object.keys(COLUMNS);

/**
 * The first one is that of the application. They are gone when they are disposed.
 *
 * @param tenants of each server
 * @param settings of all servers, as in `postgresql.conf`
 */
export async function startShards(
  tenants: readonly (readonly number[])[] = TENANTS,
  settings: Readonly<Record<string, string>> = { log_statement: 'all' },
): Promise<AsyncDisposable & { readonly shards: readonly Shard[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'crud-controllers-shards-'));
  // The account of the servers has to enter it.
  await chmod(folder, 0o711);
  const password = randomBytes(18).toString('base64url');
  const shards = await Promise.all(
    tenants.map((own, index) =>
      startShard({ folder: join(folder, `server-${index + 1}`), password, settings }, own),
    ),
  );
  const [front, ...far] = shards as [Shard, ...Shard[]];
  for (const { query } of shards)
    for (const table of TABLES)
      await query(
        `CREATE TABLE ${table}_here (${COLUMNS[table]})`.replace(
          'REFERENCES orders',
          'REFERENCES orders_here',
        ),
      );
  await front.query(frontDefinition(front, far, password));
  return {
    shards,
    async [Symbol.asyncDispose]() {
      await Promise.all(shards.map((each) => each.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One sequence for all servers makes an id unique over all tenants. */
function frontDefinition({ tenants }: Shard, far: readonly Shard[], password: string): string {
  const parents = TABLES.map(
    (table) => `
      CREATE SEQUENCE ${table}_ids AS int;
      CREATE TABLE ${table} (${COLUMNS[table]?.replace(/, PRIMARY.*/, '').replace('id int NOT NULL, id int NOT NULL', `id int NOT NULL, id int NOT NULL DEFAULT nextval('${table}_ids')`)})
        PARTITION BY LIST (tenant_id);
      ALTER TABLE ${table} ATTACH PARTITION ${table}_here FOR VALUES IN (${tenants});`,
  );
  const partitions = far.map(({ url, tenants: others }, index) => {
    const { hostname, port } = new URL(url);
    const name = `far_${index + 2}`;
    // `lock_timeout` of the application ends at the first server.
    return `
      CREATE SERVER ${name} FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS (host '${hostname}', port '${port}', dbname 'postgres', connect_timeout '2', options '-c lock_timeout=2000');
      CREATE USER MAPPING FOR CURRENT_USER SERVER ${name} OPTIONS (user 'postgres', password '${password}');
      ${TABLES.map((table) => `CREATE FOREIGN TABLE ${table}_${name} PARTITION OF ${table} FOR VALUES IN (${others}) SERVER ${name} OPTIONS (table_name '${table}_here');`).join('\n')}`;
  });
  return `
    CREATE EXTENSION postgres_fdw;
    -- A generic plan of an UPDATE or a DELETE ends the server process: a fault of PostgreSQL 18.4.
    ALTER DATABASE postgres SET plan_cache_mode = force_custom_plan;
    ALTER DATABASE postgres SET enable_partitionwise_join = on;
    ${parents.join('')} ${partitions.join('')}`;
}

type Place = Required<Pick<PostgresServerOptions, 'folder' | 'password' | 'settings'>>;

async function startShard(place: Place, tenants: readonly number[]): Promise<Shard> {
  const { folder, settings } = place;
  let server = await startPostgresServer({ ...place, exitSignal: 'SIGINT' });
  const url = server.url('postgres');
  return {
    url,
    tenants,
    folder,
    log: () => readFile(join(folder, 'postgres.log'), 'utf8'),
    async query(text) {
      const client = new Client(url);
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    stop: () => server.stop(),
    async start() {
      const { port } = new URL(url);
      server = await startPostgresServer({ ...place, settings: { ...settings, port }, exitSignal: 'SIGINT' });
    },
  };
}
