/** A database for a test, beside that of `DATABASE_URL`, so that nobody's data is touched. */
import { randomUUID } from 'node:crypto';
import { Sequelize } from 'sequelize';
import { DATABASE_URL } from '../src/database-url.js';
import { migrate } from '../src/migrate.js';

/** A migrated database without rows. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates it; the role of `DATABASE_URL` needs the right to do so. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomUUID()}`;
  await execute(`CREATE DATABASE "${name}"`);
  const url = new URL(DATABASE_URL);
  url.pathname = `/${name}`;
  await migrate(url.href);
  return { url: url.href, drop: () => execute(`DROP DATABASE "${name}"`) };
}

async function execute(statement: string): Promise<void> {
  const sequelize = new Sequelize(DATABASE_URL, { logging: false });
  await sequelize.query(statement).finally(() => sequelize.close());
}
