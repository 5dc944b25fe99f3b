/**
 * The leanest variant: reads go through two pipelined connections, whose packets of a turn of the event loop are written
 * at once; texts of PostgreSQL become JSON without being parsed. Writes have a pool, as they could block the reads.
 */
import { Pool } from 'pg';
import { articleText } from './support/article-text.js';
import { checkChanges, checkValues } from './support/article-values.js';
import { CONNECTIONS, readEnvironment } from './support/environment.js';
import { serveArticles } from './support/http.js';
import { connectLanes, type Lane } from './support/lane.js';
import { runLean, type TextRow } from './support/lean-query.js';
import {
  countStatement,
  insertStatement,
  type PageQuery,
  pageStatement,
  readStatement,
  type Statement,
  updateStatement,
} from './support/statements.js';

const { port, databaseUrl } = readEnvironment();
const pool = new Pool({ connectionString: databaseUrl, max: CONNECTIONS, options: '-c TimeZone=UTC' });
let turn = 0;

/** Counting and writing take long, and would hold up everything behind them in a lane. */
const queryPool = (statement: Statement) => runLean(pool, statement);

async function page(lanes: readonly Lane[], query: PageQuery): Promise<string> {
  const rows = await nextLane(lanes).query(pageStatement(query));
  const count = Math.min(rows.length, query.size);
  let items = '';
  for (let index = 0; index < count; index += 1) {
    items += `${index > 0 ? ',' : ''}${articleText(rows[index] as TextRow)}}`;
  }
  return `{"items":[${items}],"next":${rows.length > count ? rows[count - 1]?.[0] : null}`;
}

function nextLane(lanes: readonly Lane[]): Lane {
  turn = (turn + 1) % lanes.length;
  return lanes[turn] as Lane;
}

function first(rows: readonly TextRow[]): string | null {
  return rows[0] ? `${articleText(rows[0])}}` : null;
}

async function main(): Promise<void> {
  const lanes = await connectLanes(databaseUrl);
  serveArticles(
    {
      read: async (id) => first(await nextLane(lanes).query(readStatement(id))),
      page: async (query) => `${await page(lanes, query)}}`,
      countedPage: async (query) => {
        const [text, [total]] = await Promise.all([page(lanes, query), queryPool(countStatement())]);
        return `${text},"total":${total?.[0]}}`;
      },
      create: async (body) => {
        const values = checkValues(body);
        return values && first(await queryPool(insertStatement(values)));
      },
      update: async (id, body) => {
        const changes = checkChanges(body);
        return changes ? first(await queryPool(updateStatement(id, changes))) : undefined;
      },
    },
    port,
  );
}

void main();
