/** Starts servers from the folder that it is compiled in, and counts the starts that the data of each has seen. */
import { openDatabase as openAtlas } from '../../sample/atlas/database.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { execute } from '../support/postgres.js';

async function count(url: string): Promise<number> {
  await execute(url, 'CREATE TABLE IF NOT EXISTS starts (); INSERT INTO starts DEFAULT VALUES');
  const rows = await execute<{ count: string }>(url, 'SELECT count(*) FROM starts');
  return Number(rows[0]?.count);
}

const SERVERS = {
  atlas: () => openAtlas(),
  async test() {
    const server = await OwnPostgres.create('closed');
    return { url: server.url('postgres'), [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  },
};

/** @param names of the servers */
async function main(names: readonly string[]): Promise<void> {
  const counts = names.map(async (name) => {
    await using server = await SERVERS[name as keyof typeof SERVERS]();
    return await count(server.url);
  });
  process.stdout.write((await Promise.all(counts)).join());
}

void main(process.argv.slice(2));
