/** The limit of writes: bare `node:http`, one named statement for each request, and JSON put together by hand. */
import { Pool } from 'pg';
import { articleText } from '../contenders/support/article-text.js';
import { CONNECTIONS, readEnvironment } from '../contenders/support/environment.js';
import type { TextRow } from '../contenders/support/lean-query.js';
import { quote } from '../contenders/support/quote.js';
import type { ArticleRow } from '../contenders/support/statements.js';
import { OrderServer } from './order-http.js';
import { serveWrites } from './write-http.js';

/** `n` is a bigint, which `pg` leaves as a text. */
interface VersionedRow extends ArticleRow {
  readonly version: number;
  readonly n?: string;
}

const { port, databaseUrl } = readEnvironment();
const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS, options: '-c TimeZone=UTC' });

function toJson(row: VersionedRow): string {
  return (
    `{"id":${row.id},"title":${quote(row.title)},"body":${quote(row.body)},` +
    `"category":${quote(row.category)},"author":${quote(row.author)},"price":${row.price},` +
    `"stock":${row.stock},"active":${row.active},"createdAt":"${row.createdAt.toISOString()}",` +
    `"updatedAt":"${row.updatedAt.toISOString()}","version":${row.version}}`
  );
}

serveWrites(
  {
    rows: async (statement) => {
      const { rows } = await pool.query<VersionedRow>(statement);
      return rows.map((row) => ({ json: toJson(row), version: row.version, place: Number(row.n) }));
    },
    texts: async (statement) => (await pool.query<string[]>({ ...statement, rowMode: 'array' })).rows,
    fromTexts: (row: TextRow) => `${articleText(row)},"version":${row[10]}}`,
  },
  port,
  new OrderServer(pool),
);
