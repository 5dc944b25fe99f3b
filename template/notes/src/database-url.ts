/** Where the database is: `DATABASE_URL`, or else the PostgreSQL of compose.yaml. */
export const { DATABASE_URL = 'postgres://postgres:postgres@localhost:5432/postgres' } = process.env;

if (!URL.canParse(DATABASE_URL))
  throw new Error('DATABASE_URL is no URL; use one such as postgres://user:password@host:5432/database.');
