/** The leanest: the limit of writes without row descriptions, PostgreSQL's texts copied into the JSON. */
import { Pool } from 'pg';
import { articleText } from '../contenders/support/article-text.js';
import { CONNECTIONS, readEnvironment } from '../contenders/support/environment.js';
import { runLean, type TextRow } from '../contenders/support/lean-query.js';
import type { Statement } from '../contenders/support/statements.js';
import { serveWrites } from './write-http.js';

const { port, databaseUrl } = readEnvironment();
const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS, options: '-c TimeZone=UTC' });

const run = (statement: Statement) => runLean(pool, statement);

function toJson(row: TextRow): string {
  return `${articleText(row)},"version":${row[10]}}`;
}

serveWrites(
  {
    rows: async (statement) => {
      const rows = await run(statement);
      return rows.map((row) => ({ json: toJson(row), version: row[10] ?? '', place: Number(row[11]) }));
    },
    texts: run,
    fromTexts: toJson,
  },
  port,
);
