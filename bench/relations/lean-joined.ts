/** The leanest with one statement: the page, and its relations joined to it. What is the same in several rows comes several times. */
import { readEnvironment } from '../contenders/support/environment.js';
import { connectLanes } from '../contenders/support/lane.js';
import type { TextRow } from '../contenders/support/lean-query.js';
import type { Statement } from '../contenders/support/statements.js';
import { CHILDREN, type LibraryQuery, serveLibrary } from './library-http.js';
import { BOOK, bookJson, columnsOf, PUBLISHER, publisherJson, WRITER, writerJson } from './library-rows.js';
import { type PageSql, pageSql } from './library-sql.js';

const CHILD = WRITER.length;
const GRANDCHILD = CHILD + BOOK.length;

const FIRST_BOOKS =
  `SELECT ${columnsOf(BOOK, 'b')} FROM books AS b WHERE b."writerId" = w.id ` +
  `ORDER BY b."publishedAt" DESC, b.id DESC LIMIT ${CHILDREN + 1}`;

function statementOf({ include }: LibraryQuery, page: PageSql): Statement {
  const { name, text, order, values } = page;
  const books = `, ${columnsOf(BOOK, 'b')}`;
  const lateral = `LEFT JOIN LATERAL (${FIRST_BOOKS}) AS b ON true`;
  const within = `ORDER BY w.${order}, b."publishedAt" DESC, b.id DESC`;
  switch (include) {
    case 'writer':
      return {
        name: `${name}-writer`,
        text: `SELECT b.*, ${columnsOf(WRITER, 'w')} FROM (${text}) AS b LEFT JOIN writers AS w ON w.id = b."writerId" ORDER BY b.${order}`,
        values,
      };
    case 'books':
      return {
        name: `${name}-books`,
        text: `SELECT w.*${books} FROM (${text}) AS w ${lateral} ${within}`,
        values,
      };
    case 'books.publisher':
      return {
        name: `${name}-publisher`,
        text: `SELECT w.*${books}, ${columnsOf(PUBLISHER, 'p')} FROM (${text}) AS w ${lateral} LEFT JOIN publishers AS p ON p.id = b."publisherId" ${within}`,
        values,
      };
    default:
      return { name, text, values };
  }
}

/** The rows of one record after the other. */
function* groupsOf(rows: readonly TextRow[], isGrouped: boolean): Generator<readonly TextRow[]> {
  for (let from = 0; from < rows.length; ) {
    let to = from + 1;
    if (isGrouped) while (to < rows.length && rows[to]?.[0] === rows[from]?.[0]) to += 1;
    yield rows.slice(from, to);
    from = to;
  }
}

function recordJson({ table, include }: LibraryQuery, rows: readonly TextRow[]): string {
  const first = rows[0] as TextRow;
  if (table === 'books') {
    if (include === null) return `${bookJson(first)}}`;
    const writer = first[BOOK.length] === null ? 'null' : `${writerJson(first, BOOK.length)}}`;
    return `${bookJson(first)},"writer":${writer}}`;
  }
  if (include === null) return `${writerJson(first)}}`;
  let items = '';
  const count = first[CHILD] === null ? 0 : Math.min(rows.length, CHILDREN);
  for (let index = 0; index < count; index += 1) {
    items += (index > 0 ? ',' : '') + childJson(include, rows[index] as TextRow);
  }
  return `${writerJson(first)},"books":{"items":[${items}],"has_next":${rows.length > CHILDREN}}}`;
}

function childJson(include: LibraryQuery['include'], row: TextRow): string {
  if (include === 'books') return `${bookJson(row, CHILD)}}`;
  return `${bookJson(row, CHILD)},"publisher":${row[GRANDCHILD] === null ? 'null' : publisherJson(row, GRANDCHILD)}}`;
}

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const lanes = await connectLanes(databaseUrl);
  let turn = 0;
  serveLibrary(async (query) => {
    turn = (turn + 1) % lanes.length;
    const rows = (await lanes[turn]?.query(statementOf(query, pageSql(query)))) ?? [];
    const records: string[] = [];
    for (const group of groupsOf(rows, query.include?.startsWith('books') ?? false)) {
      records.push(recordJson(query, group));
    }
    const hasNext = records.length > query.size;
    return `{"items":[${records.slice(0, query.size).join()}],"has_next":${hasNext}}`;
  }, port);
}

void main();
