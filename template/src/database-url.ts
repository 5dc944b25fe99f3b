/** Where the database is: `DATABASE_URL`, or else the PostgreSQL of compose.yaml. */
export const { DATABASE_URL = 'postgres://postgres:postgres@localhost:5432/postgres' } = process.env;
