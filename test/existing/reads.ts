/** Reads of a model: pages in many orders and both directions, filters, relations, single records. */
import { isDeepStrictEqual } from 'node:util';
import type { Link } from './generated.js';
import type { Answer, Json, Judge, Path } from './judge.js';
import { isSortable, orderBy, texts, toJson } from './judge.js';
import { questionsOf } from './questions.js';
import type { Row } from './rows.js';
import { type Column, quote } from './tables.js';

export const PAGE_MAX = 40;
const MAX_PAGES = 12;
/** Rows of a relation to many, by default. */
const INCLUDED = 10;

interface Page {
  readonly items: Json[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

const itemsOf = ({ json }: Answer) => (json as Partial<Page>).items;

/** Some of many questions, others for each column. */
export type Some = <T>(all: readonly T[]) => readonly T[];

/** Requests everything that a model's routes can read, by these columns. */
export async function readModel(
  judge: Judge,
  columns: readonly Column[],
  links: readonly Link[],
  some: Some,
): Promise<void> {
  const { specimen, client } = judge;
  const { attributes, id, prefix, table } = specimen;
  if (id.length > 0) for (const order of [[], ...some(ordersOf(columns))]) await walk(judge, order);
  for (const column of columns) {
    for (const { q, where, values } of some(await questionsOf(client, table, column))) {
      const rows = await judge.select([], where, values);
      // Without a key the order has ties.
      if (id.length === 0 && rows.length > PAGE_MAX) continue;
      const address = `${prefix}?size=${PAGE_MAX}&q=${encodeURIComponent(`${attributes.get(column.name)}${q}`)}`;
      await judge.get(
        address,
        inOrder(
          judge,
          rows.slice(0, PAGE_MAX).map((row) => toJson(specimen, row)),
        ),
        (answer) => inOrder(judge, itemsOf(answer)),
      );
    }
  }
  await readRelations(judge, links);
  if (id.length === 0) return;
  // Again, because a view may make other values for one row than for all.
  for (const row of some(await judge.select()))
    await judge.get(
      judge.addressOf(row),
      toJson(specimen, (await judge.reload(row)) ?? {}),
      ({ json }) => json,
    );
}

/** Records of a table without a key, in any order. */
function inOrder({ specimen }: Judge, items: readonly Json[] | undefined): readonly Json[] | undefined {
  const text = (item: Json) => JSON.stringify(Object.entries(item).sort());
  return specimen.id.length > 0 ? items : items?.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}

/** Each column up and down, and pairs that go both ways. */
function ordersOf(columns: readonly Column[]): string[][] {
  const names = columns.filter(isSortable).map(({ name }) => name);
  const pairs = names.flatMap((name, at) => names.slice(at + 1, at + 2).map((next) => [name, `-${next}`]));
  return [...names.flatMap((name) => [[name], [`-${name}`]]), ...pairs];
}

/** Follows the cursors to the end, and back from there. */
async function walk(judge: Judge, order: readonly string[]): Promise<void> {
  const { attributes, prefix } = judge.specimen;
  const wanted = (await judge.select(order)).map((row) => toJson(judge.specimen, row));
  const size = Math.min(PAGE_MAX, Math.max(2, Math.ceil(wanted.length / 4)));
  const pages = Math.min(MAX_PAGES, Math.max(1, Math.ceil(wanted.length / size)));
  const names = order.map((name) =>
    name.replace(/^(-?)(.+)/, (_, minus, own) => minus + attributes.get(own)),
  );
  const base = `${prefix}?size=${size}${names.length > 0 ? `&sort=${names}` : ''}`;
  const cut = (count: number) => wanted.slice(0, count * size);
  for (const path of judge.paths) {
    const forward = await follow(
      judge,
      path,
      base,
      pages,
      ({ next_cursor }) => next_cursor && `&after=${next_cursor}`,
    );
    judge.expect(
      path,
      `GET ${base}, forward`,
      forward.flatMap(({ items }) => items),
      cut(pages),
    );
    const isWhole = pages * size >= wanted.length;
    const ends = forward.map(({ has_prev, has_next }, at) => [
      has_prev === at > 0,
      has_next === (!isWhole || at < pages - 1),
    ]);
    judge.expect(path, `GET ${base}, has_prev and has_next`, ends.flat().includes(false), false);
    const last = forward.at(-1)?.prev_cursor;
    if (!last) continue;
    const back = await follow(
      judge,
      path,
      `${base}&before=${last}`,
      pages,
      ({ prev_cursor }) => prev_cursor && `&before=${prev_cursor}`,
    );
    judge.expect(
      path,
      `GET ${base}, back`,
      back.reverse().flatMap(({ items }) => items),
      cut(forward.length - 1),
    );
  }
}

/** At most so many pages, in the order in which they came. */
async function follow(
  judge: Judge,
  path: Path,
  first: string,
  most: number,
  next: (page: Page) => string | null,
): Promise<Page[]> {
  const pages: Page[] = [];
  const base = first.replace(/&before=.*/, '');
  for (let address: string | null = first; address !== null && pages.length < most; ) {
    const answer = await judge.send(path, 'GET', address);
    if (answer.status !== 200) {
      judge.expect(path, `GET ${address}`, answer, 'a page');
      break;
    }
    const page = answer.json as Page;
    pages.push(page);
    const more = next(page);
    address = more === null ? null : `${base}${more}`;
  }
  return pages;
}

/** Includes each relation in the first page. */
export async function readRelations(judge: Judge, links: readonly Link[]): Promise<void> {
  const { specimen, client } = judge;
  const all = await judge.select();
  const rows = all.slice(0, PAGE_MAX);
  if (specimen.id.length === 0 && all.length > PAGE_MAX) return;
  for (const { name, isOne, own, other, target, through } of links) {
    const [join, from] = through
      ? [`JOIN ${through.sql} j ON j.${quote(through.to)} = t.${quote(through.key)}`, 'j']
      : ['', 't'];
    // A row refers to none where a column is NULL.
    const joined = other.map((each) => `${from}.${quote(each)}`);
    const key = `CASE WHEN num_nulls(${joined}) = 0 THEN jsonb_build_array(${joined.map((each) => `${each}::text`)})::text END`;
    const keyOf = (row: Row) => own.map((each) => row[each] ?? null);
    const related = await client.query<Row>(
      `SELECT ${texts(target)}, ${key} AS "~own" FROM ${target.table.from} t ${join} WHERE ${key} IN (SELECT jsonb_array_elements($1::jsonb)::text) ${orderBy(target, [])}`,
      [JSON.stringify(rows.map(keyOf))],
    );
    const wanted = rows.map((row) => {
      const mine = related.rows
        .filter(
          (each) => each['~own'] !== null && isDeepStrictEqual(JSON.parse(`${each['~own']}`), keyOf(row)),
        )
        .map((each) => toJson(target, each));
      const many = { items: mine.slice(0, INCLUDED), has_next: mine.length > INCLUDED };
      return { ...toJson(specimen, row), [name]: isOne ? (mine[0] ?? null) : many };
    });
    await judge.get(`${specimen.prefix}?size=${PAGE_MAX}&include=${name}`, inOrder(judge, wanted), (answer) =>
      inOrder(judge, itemsOf(answer)),
    );
  }
}
