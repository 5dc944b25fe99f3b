/** Indexes for the orders of the curves, and tables of many columns. */
import type { Database } from '../measure/database.js';

const ROWS = 10_000;
/** Types of columns, in the order of `scaled-models.ts`. */
const TYPES: readonly { readonly type: string; readonly value: string }[] = [
  { type: 'integer', value: 'i' },
  { type: 'varchar(40)', value: "'text ' || i" },
  { type: 'double precision', value: 'i / 8.0' },
  { type: 'boolean', value: 'i % 2 = 0' },
  { type: 'timestamptz', value: "timestamptz '2026-01-01 00:00:00Z' + i * interval '1 second'" },
];

/** Creates the indexes that the index advice of the start would name. */
export async function indexOrders(database: Database): Promise<void> {
  await database.query('CREATE INDEX IF NOT EXISTS articles_price ON articles (price, id)');
  await database.query('CREATE INDEX IF NOT EXISTS articles_author ON articles (author, id)');
  await database.query('ANALYZE articles');
}

/** A table `wide_…` with an id and this many columns beside it. */
export async function createWideTable(database: Database, columns: number): Promise<void> {
  const all = Array.from({ length: columns }, (_, index) => ({
    name: `column${index + 1}`,
    ...(TYPES[(index + 1) % TYPES.length] as (typeof TYPES)[number]),
  }));
  const definitions = all.map(({ name, type }) => `"${name}" ${type}`);
  await database.query(`CREATE TABLE wide_${columns} (id integer PRIMARY KEY, ${definitions.join(', ')})`);
  await database.query(
    `INSERT INTO wide_${columns} SELECT i, ${all.map(({ value }) => value).join(', ')} FROM generate_series(1, ${ROWS}) AS i`,
  );
  await database.query(`VACUUM (FREEZE, ANALYZE) wide_${columns}`);
}
