/** LATERAL and json_agg: PostgreSQL writes the JSON of what is behind a record into a column of it. */
import { readEnvironment } from '../contenders/support/environment.js';
import { connectLanes } from '../contenders/support/lane.js';
import type { Statement } from '../contenders/support/statements.js';
import { CHILDREN, type LibraryQuery, serveLibrary } from './library-http.js';
import { BOOK, bookJson, columnsOf, PUBLISHER, WRITER, writerJson } from './library-rows.js';
import { type PageSql, pageSql } from './library-sql.js';

/** Dates as the others have them. */
function objectSql(columns: readonly string[], alias: string, others = ''): string {
  const members = columns.map((column) =>
    column === 'publishedAt'
      ? `'${column}', to_char(${alias}."${column}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
      : `'${column}', ${alias}."${column}"`,
  );
  return `json_build_object(${members.join(', ')}${others})`;
}

function booksSql(isNested: boolean): string {
  const publisher = isNested
    ? `, 'publisher', (SELECT ${objectSql(PUBLISHER, 'p')} FROM publishers AS p WHERE p.id = b."publisherId")`
    : '';
  return (
    `SELECT json_build_object('items', coalesce(json_agg(${objectSql(BOOK, 'b', publisher)}) FILTER (WHERE b.place <= ${CHILDREN}), '[]'), ` +
    `'has_next', count(*) > ${CHILDREN}) AS json FROM (SELECT ${columnsOf(BOOK, 'b')}, row_number() OVER () AS place FROM ` +
    `(SELECT ${columnsOf(BOOK, 'b')} FROM books AS b WHERE b."writerId" = w.id ` +
    `ORDER BY b."publishedAt" DESC, b.id DESC LIMIT ${CHILDREN + 1}) AS b) AS b`
  );
}

function statementOf({ include }: LibraryQuery, { name, text, order, values }: PageSql): Statement {
  switch (include) {
    case 'writer':
      return {
        name: `${name}-writer`,
        text: `SELECT b.*, (SELECT ${objectSql(WRITER, 'w')} FROM writers AS w WHERE w.id = b."writerId") FROM (${text}) AS b ORDER BY b.${order}`,
        values,
      };
    case 'books':
    case 'books.publisher':
      return {
        name: `${name}-${include}`,
        text: `SELECT w.*, j.json FROM (${text}) AS w CROSS JOIN LATERAL (${booksSql(include !== 'books')}) AS j ORDER BY w.${order}`,
        values,
      };
    default:
      return { name, text, values };
  }
}

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const lanes = await connectLanes(databaseUrl);
  let turn = 0;
  serveLibrary(async (query) => {
    turn = (turn + 1) % lanes.length;
    const rows = (await lanes[turn]?.query(statementOf(query, pageSql(query)))) ?? [];
    const isOfBooks = query.table === 'books';
    const name = isOfBooks ? 'writer' : 'books';
    const at = isOfBooks ? BOOK.length : WRITER.length;
    const records = rows.slice(0, query.size).map((row) => {
      const own = isOfBooks ? bookJson(row) : writerJson(row);
      return query.include === null ? `${own}}` : `${own},"${name}":${row[at] ?? 'null'}}`;
    });
    return `{"items":[${records.join()}],"has_next":${rows.length > query.size}}`;
  }, port);
}

void main();
