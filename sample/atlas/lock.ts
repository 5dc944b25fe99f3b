/** A lock on a database server, held by the atlas that runs on it. It ends with the process of the atlas. */
import { Client } from 'pg';

// Any number that no other program uses on this server.
const KEY = 2_988_507;

/** Takes the lock and keeps the connection that holds it; undefined when another atlas has it. */
export async function takeLock(url: string): Promise<Client | undefined> {
  const client = new Client({ connectionString: url, application_name: 'atlas lock' });
  // A connection that breaks while nothing runs on it would otherwise end the process.
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [KEY]);
  if (rows[0]?.taken) return client;
  await client.end();
  return undefined;
}
