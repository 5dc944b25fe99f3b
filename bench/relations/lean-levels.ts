/** The leanest with one statement for each level: the page, then what is behind its keys. */
import { readEnvironment } from '../contenders/support/environment.js';
import { connectLanes, type Lane } from '../contenders/support/lane.js';
import type { TextRow } from '../contenders/support/lean-query.js';
import { CHILDREN, serveLibrary } from './library-http.js';
import { BOOK, bookJson, columnsOf, PUBLISHER, publisherJson, WRITER, writerJson } from './library-rows.js';
import { pageSql } from './library-sql.js';

const WRITER_KEY = BOOK.indexOf('writerId');
const PUBLISHER_KEY = BOOK.indexOf('publisherId');

const WRITERS = `SELECT ${columnsOf(WRITER, 'w')} FROM writers AS w WHERE w.id = ANY($1::integer[])`;
const PUBLISHERS = `SELECT ${columnsOf(PUBLISHER, 'p')} FROM publishers AS p WHERE p.id = ANY($1::integer[])`;
const FIRST_BOOKS =
  'SELECT b.* FROM unnest($1::integer[]) AS k(id) CROSS JOIN LATERAL ' +
  `(SELECT ${columnsOf(BOOK, 'b')} FROM books AS b WHERE b."writerId" = k.id ` +
  `ORDER BY b."publishedAt" DESC, b.id DESC LIMIT ${CHILDREN + 1}) AS b ` +
  'ORDER BY b."writerId", b."publishedAt" DESC, b.id DESC';

/** The records behind keys, as JSON. */
async function readOnes(
  lane: Lane,
  name: string,
  text: string,
  keys: ReadonlySet<string | null | undefined>,
  write: (row: TextRow) => string,
): Promise<ReadonlyMap<string | null | undefined, string>> {
  const rows = await lane.query({ name, text, values: [arrayOf(keys)] });
  const found = new Map<string | null | undefined, string>();
  for (const row of rows) found.set(row[0], write(row));
  return found;
}

function arrayOf(keys: ReadonlySet<string | null | undefined>): string {
  let text = '';
  for (const key of keys) if (key) text += text === '' ? key : `,${key}`;
  return `{${text}}`;
}

function keysOf(rows: readonly TextRow[], at: number): ReadonlySet<string | null | undefined> {
  const keys = new Set<string | null | undefined>();
  for (const row of rows) keys.add(row[at]);
  return keys;
}

async function withWriters(lane: Lane, books: readonly TextRow[]): Promise<string[]> {
  const keys = keysOf(books, WRITER_KEY);
  const writers = await readOnes(lane, 'writers', WRITERS, keys, (row) => `${writerJson(row)}}`);
  return books.map((row) => `${bookJson(row)},"writer":${writers.get(row[WRITER_KEY]) ?? 'null'}}`);
}

async function withBooks(lane: Lane, writers: readonly TextRow[], isNested: boolean): Promise<string[]> {
  const values = [arrayOf(keysOf(writers, 0))];
  const rows = await lane.query({ name: 'first-books', text: FIRST_BOOKS, values });
  const kept = new Map<string | null | undefined, TextRow[]>();
  const next = new Set<string | null | undefined>();
  const shown: TextRow[] = [];
  for (const row of rows) {
    const key = row[WRITER_KEY];
    const known = kept.get(key);
    if (known && known.length === CHILDREN) next.add(key);
    else {
      shown.push(row);
      if (known) known.push(row);
      else kept.set(key, [row]);
    }
  }
  const publishers = isNested
    ? await readOnes(lane, 'publishers', PUBLISHERS, keysOf(shown, PUBLISHER_KEY), (row) =>
        publisherJson(row),
      )
    : null;
  const write = (row: TextRow): string =>
    publishers
      ? `${bookJson(row)},"publisher":${publishers.get(row[PUBLISHER_KEY]) ?? 'null'}}`
      : `${bookJson(row)}}`;
  return writers.map((row) => {
    const items = kept.get(row[0])?.map(write).join() ?? '';
    return `${writerJson(row)},"books":{"items":[${items}],"has_next":${next.has(row[0])}}}`;
  });
}

async function main(): Promise<void> {
  const { port, databaseUrl } = readEnvironment();
  const lanes = await connectLanes(databaseUrl);
  let turn = 0;
  serveLibrary(async (query) => {
    turn = (turn + 1) % lanes.length;
    const lane = lanes[turn] as Lane;
    const rows = await lane.query(pageSql(query));
    const hasNext = rows.length > query.size;
    const page = hasNext ? rows.slice(0, query.size) : rows;
    const isOfBooks = query.table === 'books';
    const records =
      query.include === null
        ? page.map((row) => `${isOfBooks ? bookJson(row) : writerJson(row)}}`)
        : isOfBooks
          ? await withWriters(lane, page)
          : await withBooks(lane, page, query.include === 'books.publisher');
    return `{"items":[${records.join()}],"has_next":${hasNext}}`;
  }, port);
}

void main();
