/** Compares records and their related rows with PostgreSQL's, where each table is read by itself. */
import { createRandom } from '../load/random.js';
import { askFor, type Check, type Examination, expectSame, toJson } from '../measure/check-answers.js';
import { randomCategory, randomCountry } from './library.js';
import { CHILDREN } from './library-http.js';
import { BOOK, columnsOf, PUBLISHER, WRITER } from './library-rows.js';
import type { LibraryWire, RelationWorkload } from './library-wires.js';

type Json = Record<string, unknown>;
type LibraryExamination = Examination<LibraryWire>;
type Add = (examination: LibraryExamination, row: Json) => Promise<Json>;

/** Values that are filtered by. */
const SAMPLES = 10;

const BOOKS = `SELECT ${columnsOf(BOOK, 'b')} FROM books AS b`;
const WRITERS = `SELECT ${columnsOf(WRITER, 'w')} FROM writers AS w`;
const PUBLISHERS = `SELECT ${columnsOf(PUBLISHER, 'p')} FROM publishers AS p`;

/** By name of the workload. */
export const RELATION_CHECKS: Readonly<Record<RelationWorkload, Check<LibraryWire>>> = {
  books20: (examination) => check(examination, 'books20', `${BOOKS} ORDER BY id LIMIT 20`, alone),
  writers20: (examination) => check(examination, 'writers20', `${WRITERS} ORDER BY id LIMIT 20`, alone),
  one20: (examination) => check(examination, 'one20', `${BOOKS} ORDER BY id LIMIT 20`, withWriter),
  many20: (examination) => check(examination, 'many20', `${WRITERS} ORDER BY id LIMIT 20`, withBooks()),
  hot20: (examination) => check(examination, 'hot20', `${WRITERS} ORDER BY id DESC LIMIT 20`, withBooks()),
  nested20: (examination) =>
    check(examination, 'nested20', `${WRITERS} ORDER BY id LIMIT 20`, withBooks(withPublisher)),
  async byOne20(examination) {
    const random = createRandom(2);
    const found = `${BOOKS} JOIN writers AS w ON w.id = b."writerId" WHERE w.country = $1 ORDER BY b.id LIMIT 20`;
    for (let sample = 0; sample < SAMPLES; sample += 1)
      await check(examination, 'byOne20', found, alone, randomCountry(random));
  },
  async byAny20(examination) {
    const random = createRandom(3);
    const having = 'SELECT DISTINCT "writerId" FROM books WHERE category = $1';
    const found = `${WRITERS} WHERE w.id = ANY(ARRAY(${having})) ORDER BY w.id LIMIT 20`;
    for (let sample = 0; sample < SAMPLES; sample += 1)
      await check(examination, 'byAny20', found, alone, randomCategory(random));
  },
};

async function check(
  examination: LibraryExamination,
  workload: RelationWorkload,
  text: string,
  add: Add,
  value = '',
): Promise<void> {
  const { wire, ask, database } = examination;
  const rows = await database.query<Json>(text, value === '' ? [] : [value]);
  const expected: Json[] = [];
  for (const row of rows) expected.push(await add(examination, row));
  const call = wire.list(workload, value);
  expectSame(call, wire.items(await askFor(ask, call, 200)), toJson(expected));
}

const alone: Add = async (_examination, row) => row;

const withWriter: Add = async ({ database }, row) => {
  const [writer = null] = await database.query(`${WRITERS} WHERE id = $1`, [row['writerId']]);
  return { ...row, writer };
};

const withPublisher: Add = async ({ database }, row) => {
  const [publisher = null] = await database.query(`${PUBLISHERS} WHERE id = $1`, [row['publisherId']]);
  return { ...row, publisher };
};

function withBooks(add = alone): Add {
  return async (examination, row) => {
    const text = `${BOOKS} WHERE "writerId" = $1 ORDER BY "publishedAt" DESC, id DESC LIMIT ${CHILDREN + 1}`;
    const rows = await examination.database.query<Json>(text, [row['id']]);
    const items: Json[] = [];
    for (const book of rows.slice(0, CHILDREN)) items.push(await add(examination, book));
    return { ...row, books: { items, has_next: rows.length > CHILDREN } };
  };
}
