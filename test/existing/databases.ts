/** Databases to drive: fresh ones with a schema of this folder, and copies of those of others. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../support/package-root.js';
import { connectTo, execute, freshDatabase } from '../support/postgres.js';

export const SCHEMAS = ['chinook', 'northwind', 'adventureworks'] as const;

export interface DrivenDatabase extends AsyncDisposable {
  readonly url: string;
}

/** An empty schema of this folder. */
export async function withSchema(name: (typeof SCHEMAS)[number]): Promise<DrivenDatabase> {
  const database = await freshDatabase(name);
  await execute(database.url, await readFile(join(PACKAGE_ROOT, 'test/existing', `${name}.sql`), 'utf8'));
  return database;
}

/** A copy beside the database, made by its server, which lets nobody be connected to it meanwhile. */
export async function copyOf(original: string): Promise<DrivenDatabase> {
  const [from, admin] = [new URL(original), new URL(original)];
  const name = `driven_${randomBytes(6).toString('hex')}`;
  admin.pathname = '/postgres';
  await execute(
    admin.href,
    `CREATE DATABASE "${name}" TEMPLATE "${decodeURIComponent(from.pathname.slice(1))}"`,
  );
  from.pathname = `/${name}`;
  return {
    url: from.href,
    async [Symbol.asyncDispose]() {
      await using client = await connectTo(admin.href);
      await client.query(`DROP DATABASE "${name}" WITH (FORCE)`);
    },
  };
}
