/** Brings the tables of a database up to date: `npm run migrate`. */
import { ConnectionError, Sequelize } from 'sequelize';
import { SequelizeStorage, Umzug } from 'umzug';
import { DATABASE_URL } from './database-url.js';

/** Runs the migrations that the database has not had yet, and keeps their names in its table SequelizeMeta. */
export async function migrate(databaseUrl: string): Promise<readonly string[]> {
  const sequelize = new Sequelize(databaseUrl, { logging: false });
  const migrator = new Umzug({
    migrations: { glob: ['migrations/*.js', { cwd: __dirname }] },
    context: sequelize,
    storage: new SequelizeStorage({ sequelize }),
    logger: undefined,
  });
  const run = await migrator.up().finally(() => sequelize.close());
  return run.map(({ name }) => name);
}

async function main(): Promise<void> {
  const names = await migrate(DATABASE_URL);
  process.stdout.write(names.length > 0 ? `Migrated: ${names.join(', ')}\n` : 'Nothing to migrate.\n');
}

if (require.main === module) {
  main().catch((error: unknown) => {
    const advice =
      error instanceof ConnectionError ? '\nStart the PostgreSQL of compose.yaml, or set DATABASE_URL.' : '';
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}${advice}\n`);
    process.exitCode = 1;
  });
}
