/** The limit: bare `node:http`, `pg` with named statements in a pool, and JSON put together by hand. */
import { Pool } from 'pg';
import { checkChanges, checkValues } from './support/article-values.js';
import { CONNECTIONS, readEnvironment } from './support/environment.js';
import { serveArticles } from './support/http.js';
import { quote } from './support/quote.js';
import { runStatement } from './support/run-statement.js';
import {
  type ArticleRow,
  countStatement,
  insertStatement,
  type PageQuery,
  pageStatement,
  readStatement,
  type Statement,
  updateStatement,
} from './support/statements.js';

const { port, databaseUrl } = readEnvironment();
const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS });

async function queryOne(statement: Statement): Promise<string | null> {
  const { rows } = await runStatement<ArticleRow>(pool, statement);
  return rows[0] ? toJson(rows[0]) : null;
}

async function queryPage(query: PageQuery, total: Promise<number> | null = null): Promise<string> {
  const { rows } = await runStatement<ArticleRow>(pool, pageStatement(query));
  const count = Math.min(rows.length, query.size);
  let items = '';
  for (let index = 0; index < count; index += 1) {
    items += (index > 0 ? ',' : '') + toJson(rows[index] as ArticleRow);
  }
  const next = rows.length > count ? rows[count - 1]?.id : null;
  return `{"items":[${items}],"next":${next}${total ? `,"total":${await total}` : ''}}`;
}

/** `JSON.stringify` would call `toJSON` of each date, and find out types that are fixed here. */
function toJson(row: ArticleRow): string {
  return (
    `{"id":${row.id},"title":${quote(row.title)},"body":${quote(row.body)},` +
    `"category":${quote(row.category)},"author":${quote(row.author)},"price":${row.price},` +
    `"stock":${row.stock},"active":${row.active},"createdAt":"${row.createdAt.toISOString()}",` +
    `"updatedAt":"${row.updatedAt.toISOString()}"}`
  );
}

async function count(): Promise<number> {
  const { rows } = await pool.query<{ total: number }>(countStatement());
  return rows[0]?.total ?? 0;
}

serveArticles(
  {
    read: (id) => queryOne(readStatement(id)),
    page: (query) => queryPage(query),
    countedPage: (query) => queryPage(query, count()),
    create: async (body) => {
      const values = checkValues(body);
      return values && queryOne(insertStatement(values));
    },
    update: async (id, body) => {
      const changes = checkChanges(body);
      return changes ? queryOne(updateStatement(id, changes)) : undefined;
    },
  },
  port,
);
