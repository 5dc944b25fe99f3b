/** The limit: bare `node:http`, one named statement for each request, and PostgreSQL's texts copied into the JSON. */
import { createServer, type ServerResponse } from 'node:http';
import { Pool } from 'pg';
import { toIso } from '../contenders/support/article-text.js';
import { CONNECTIONS, HOST, readEnvironment } from '../contenders/support/environment.js';
import { send } from '../contenders/support/http.js';
import { runLean, type TextRow } from '../contenders/support/lean-query.js';
import { quote } from '../contenders/support/quote.js';
import type { Statement } from '../contenders/support/statements.js';
import { aggregateStatement, listStatement } from './statements.js';

const { port, databaseUrl } = readEnvironment();
const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS, options: '-c TimeZone=UTC' });

const run = (statement: Statement) => runLean(pool, statement);

function postJson([id, title, text, section, stock, price, created]: TextRow): string {
  return (
    `{"id":${id},"title":${quote(title)},"text":${quote(text)},"sectionId":${section},"stock":${stock},` +
    `"price":${quote(price)},"createdAt":"${toIso(created as string)}"}`
  );
}

async function list(path: string, parameters: URLSearchParams): Promise<string> {
  const size = Number(parameters.get('size') ?? 20);
  const rows = await run(listStatement(path, parameters, size));
  const items = rows.slice(0, size).map(postJson);
  return `{"items":[${items.join(',')}],"has_next":${rows.length > size}}`;
}

async function aggregate(parameters: URLSearchParams): Promise<string> {
  const [, section] = /^sectionId==(\d{1,9})$/.exec(parameters.get('q') ?? '') ?? [];
  const zone = parameters.get('tz');
  const rows = await run(aggregateStatement(Number(section), zone));
  const items = rows.map(([count, sum, last]) =>
    zone === null
      ? `{"group":{},"count":${count},"sum":{"stock":${quote(sum)}},"avg":{"price":${quote(last)}}}`
      : `{"group":{"createdAt.month":${quote(last)}},"count":${count},"sum":{"stock":${quote(sum)}}}`,
  );
  return `{"items":[${items.join(',')}],"has_next":false}`;
}

async function answer(target: string, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  const text = await (pathname.endsWith('/aggregate')
    ? aggregate(searchParams)
    : list(pathname, searchParams));
  send(response, 200, text);
}

createServer((request, response) => {
  answer(request.url ?? '', response).catch(() => send(response, 500, '{"error":"Internal Server Error"}'));
}).listen(port, HOST);
