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

/** A copy beside the database, made by its server, which refuses connections to the original meanwhile. */
export async function copyOf(original: string): Promise<DrivenDatabase> {
  const [from, admin] = [new URL(original), new URL(original)];
  const name = `driven_${randomBytes(6).toString('hex')}`;
  admin.pathname = '/postgres';
  await execute(
    admin.href,
    `CREATE DATABASE "${name}" TEMPLATE "${decodeURIComponent(from.pathname.slice(1))}"`,
  );
  // A copy has the rows, and none of the settings.
  await execute(
    admin.href,
    `DO $$ DECLARE setting text; BEGIN
      FOR setting IN SELECT unnest(setconfig) FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase WHERE setrole = 0 AND datname = '${from.pathname.slice(1)}'
      LOOP EXECUTE format('ALTER DATABASE %I SET %s', '${name}', regexp_replace(setting, '=', ' TO ')); END LOOP; END $$`,
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
