/** Sends each model all that its table can be asked, to applications on both paths, and compares each answer with SQL. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import { type Column, quote, type Relation } from './catalogue.js';
import type { Link, Specimen } from './models.js';
import type { Row, RowMaker } from './rows.js';
import { idOf, jsonOf, queryText, ruleOf } from './wire.js';

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly json: unknown;
}

/** Sends a request to the application of a path. */
export type Send = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** An application. */
export interface Path {
  readonly name: string;
  readonly send: Send;
}

/** What was asked of a model, and what was wrong. */
export interface Score {
  requests: number;
  readonly differences: string[];
}

type Json = Record<string, unknown>;
interface Page {
  readonly items: Json[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
}

export const PAGE_MAX = 40;
const MAX_PAGES = 12;
const INCLUDED = 10;

/** Drives the applications over one database. */
export class Driver {
  readonly scores = new Map<string, Score>();
  /** Few questions are others for each column. */
  #turn = 0;

  constructor(
    private readonly client: Client,
    private readonly paths: readonly Path[],
    private readonly maker: RowMaker,
    /** How many of each kind of question are asked: all of them where it is Infinity. */
    private readonly few: number,
  ) {}

  /** Orders, operators, relations and single records. */
  async read(specimen: Specimen, links: readonly Link[], canRead: boolean): Promise<void> {
    const { table, id } = specimen;
    const sortable = table.columns.filter((column) => isSortable(column));
    const orders = sortable.flatMap(({ name }, at) => [
      [name],
      [`-${name}`],
      [name, `-${sortable[(at + 1) % sortable.length]?.name}`],
    ]);
    const total = id.length > 0;
    for (const order of this.#some([[], ...orders.filter(([a, b]) => b === undefined || b !== `-${a}`)]))
      if (total) await this.#walk(specimen, order);
    for (const column of table.columns)
      for (const question of this.#some(await this.#questions(table, column)))
        await this.#filter(specimen, question);
    await this.relations(specimen, links);
    if (!canRead) return;
    for (const row of this.#some(await this.#select(table, '', [], this.#orderOf(specimen, [])))) {
      await this.#same(
        specimen,
        'GET',
        `${specimen.prefix}/${this.#idOf(specimen, row)}`,
        toJson(specimen, row),
      );
    }
  }

  /** Each relation, in lists. */
  async relations(specimen: Specimen, links: readonly Link[]): Promise<void> {
    for (const link of links) await this.#include(specimen, link);
  }

  /** Both directions of a list. */
  async #walk(specimen: Specimen, order: readonly string[]): Promise<void> {
    const { table, prefix, attributes } = specimen;
    const rows = await this.#select(table, '', [], this.#orderOf(specimen, order));
    const wanted = rows.map((row) => toJson(specimen, row));
    const size = Math.min(PAGE_MAX, Math.max(2, Math.ceil(rows.length / 4)));
    const sort = order
      .map((name) => (name.startsWith('-') ? `-${attributes.get(name.slice(1))}` : attributes.get(name)))
      .join();
    const base = `${prefix}?size=${size}${sort && `&sort=${sort}`}`;
    for (const path of this.paths) {
      const pages: Page[] = [];
      let page = await this.#page(specimen, path, base);
      while (page && pages.push(page) < MAX_PAGES && page.next_cursor !== null)
        page = await this.#page(specimen, path, `${base}&after=${page.next_cursor}`);
      const forward = pages.flatMap(({ items }) => items);
      this.#expect(specimen, path, `GET ${base}, forward`, forward, wanted.slice(0, pages.length * size));
      const back: Page[] = [];
      let before = pages.at(-1)?.prev_cursor ?? null;
      while (before !== null && back.length < MAX_PAGES) {
        const earlier = await this.#page(specimen, path, `${base}&before=${before}`);
        if (earlier) back.unshift(earlier);
        before = earlier?.prev_cursor ?? null;
      }
      this.#expect(
        specimen,
        path,
        `GET ${base}, back`,
        back.flatMap(({ items }) => items),
        wanted.slice(0, Math.max(0, pages.length - 1) * size),
      );
    }
  }

  async #page(specimen: Specimen, path: Path, address: string): Promise<Page | null> {
    const answer = await this.#send(specimen, path, 'GET', address);
    if (answer.status === 200) return answer.json as Page;
    this.#expect(specimen, path, `GET ${address}`, answer, 'a page');
    return null;
  }

  async #filter(specimen: Specimen, { q, where, values }: Question): Promise<void> {
    const rows = await this.#select(specimen.table, where, values, this.#orderOf(specimen, []));
    const attribute = specimen.attributes.get(q.column);
    const address = `${specimen.prefix}?size=${PAGE_MAX}&q=${encodeURIComponent(`${attribute}${q.rest}`)}`;
    for (const path of this.paths) {
      const answer = await this.#send(specimen, path, 'GET', address);
      const items = (answer.json as Page | undefined)?.items;
      const wanted = rows.slice(0, PAGE_MAX).map((row) => toJson(specimen, row));
      this.#expect(specimen, path, `GET ${decodeURIComponent(address)}`, items ?? answer, wanted);
    }
  }

  /** Each operator of a column, with values that rows have, and one that none has. */
  async #questions(table: Relation, column: Column): Promise<Question[]> {
    const { operators } = ruleOf(column);
    const name = `t.${quote(column.name)}`;
    const own = column.element ? name : `${name}::${column.type}`;
    const ask = (rest: string, where: string, ...values: string[]): Question => ({
      q: { column: column.name, rest },
      where,
      values,
    });
    const all = [ask('=isnull=true', `${name} IS NULL`), ask('=isnull=false', `${name} IS NOT NULL`)];
    if (operators === '') return all;
    const found =
      operators === '['
        ? `(SELECT unnest(${name}) AS v FROM ${table.sql} t) e`
        : `(SELECT ${own} AS v FROM ${table.sql} t) e`;
    const { rows } = await this.client.query(
      `SELECT v::text FROM (SELECT v, row_number() OVER (ORDER BY v) FROM (SELECT DISTINCT v FROM ${found} WHERE v IS NOT NULL) d) n ORDER BY row_number * 7 % 10 LIMIT 4`,
    );
    const values = rows.map(({ v }) => String(v));
    const absent = absentOf(column);
    if (absent !== null) values.push(absent);
    const say = (value: string) =>
      `"${queryText(operators === '[' ? { ...column, base: column.element ?? '', type: column.element ?? '', element: null } : column, value).replace(/["\\]/g, '\\$&')}"`;
    values.forEach((value, at) => {
      const other = values[(at + 1) % values.length] ?? value;
      const [low, high] = [`$1::text::${column.type}`, `$2::text::${column.type}`];
      if (operators === '[') {
        const list = `ARRAY[$1, $2]::text[]::${column.type}`;
        all.push(ask(`=contains=(${say(value)})`, `${name} @> ARRAY[$1]::text[]::${column.type}`, value));
        all.push(ask(`=overlaps=(${say(value)},${say(other)})`, `${name} && ${list}`, value, other));
        return;
      }
      all.push(
        ask(`==${say(value)}`, `${own} = ${low}`, value),
        ask(`!=${say(value)}`, `${own} <> ${low}`, value),
      );
      all.push(
        ask(`=in=(${say(value)},${say(other)})`, `${own} IN (${low}, ${high})`, value, other),
        ask(`=out=(${say(value)})`, `${own} NOT IN (${low})`, value),
      );
      if (operators.includes('<')) {
        for (const [sign, word] of [
          ['<', '<'],
          ['<=', '=le='],
          ['>', '=gt='],
          ['>=', '>='],
        ])
          all.push(ask(`${word}${say(value)}`, `${own} ${sign} ${low}`, value));
        all.push(
          ask(`=between=(${say(value)},${say(other)})`, `${own} BETWEEN ${low} AND ${high}`, value, other),
        );
        all.push(
          ask(
            `=notbetween=(${say(value)},${say(other)})`,
            `${own} NOT BETWEEN ${low} AND ${high}`,
            value,
            other,
          ),
        );
      }
      if (!operators.includes('~')) return;
      const text = `${name}::${column.base === 'citext' ? 'citext' : 'text'}`;
      const part = [...value].slice(0, 2).join('');
      const pattern = (sql: string) => sql.replace(/[\\%_]/g, '\\$&');
      const word = part.replace(/[\\*]/g, '\\$&').replace(/["\\]/g, '\\$&');
      all.push(
        ask(`=like="${word}*"`, `${text} LIKE $1`, `${pattern(part)}%`),
        ask(`=notlike="*${word}"`, `${text} NOT LIKE $1`, `%${pattern(part)}`),
      );
      all.push(
        ask(`=ilike="*${word}*"`, `${text} ILIKE $1`, `%${pattern(part)}%`),
        ask(`=inotlike="${word}*"`, `${text} NOT ILIKE $1`, `${pattern(part)}%`),
      );
    });
    if (operators === '[')
      all.push(ask('=isempty=true', `${name} = '{}'`), ask('=isempty=false', `${name} <> '{}'`));
    return all;
  }

  /** A relation, of all records of a page. */
  async #include(specimen: Specimen, { name, isOne, own, other, target }: Link): Promise<void> {
    const rows = (await this.#select(specimen.table, '', [], this.#orderOf(specimen, []))).slice(0, PAGE_MAX);
    const order = this.#orderOf(target, []);
    const related = await this.#select(
      target.table,
      `t.${quote(other)}::text = ANY($1)`,
      [rows.map((row) => row[own] ?? '')],
      order,
    );
    const wanted = rows.map((row) => {
      const mine = related.filter((each) => each[other] === row[own]).map((each) => toJson(target, each));
      return {
        ...toJson(specimen, row),
        [name]: isOne
          ? (mine[0] ?? null)
          : { items: mine.slice(0, INCLUDED), has_next: mine.length > INCLUDED },
      };
    });
    const address = `${specimen.prefix}?size=${PAGE_MAX}&include=${name}`;
    for (const path of this.paths) {
      const answer = await this.#send(specimen, path, 'GET', address);
      this.#expect(
        specimen,
        path,
        `GET ${address}`,
        (answer.json as Page | undefined)?.items ?? answer,
        wanted,
      );
    }
  }

  /** Creates a row, changes each of its columns to the value that it has, replaces and deletes it. Rows that others need stay. */
  async write(specimen: Specimen, canReplace: boolean): Promise<void> {
    for (const [at, path] of this.paths.entries()) {
      const rows = await this.#select(specimen.table, '', [], this.#orderOf(specimen, []));
      for (const row of rows.slice(0, 2)) await this.#patch(specimen, path, row);
      for (const row of rows.slice(0, 4)) await this.#deleteNeeded(specimen, path, row);
      await this.#create(specimen, path, at, canReplace);
    }
  }

  async #create(specimen: Specimen, path: Path, at: number, canReplace: boolean): Promise<void> {
    const proposed = await this.#propose(specimen.table, at);
    if (!proposed) return;
    const body = pick(
      toJson(specimen, proposed.row),
      proposed.given.map((name) => specimen.attributes.get(name) ?? ''),
    );
    const created = await this.#send(specimen, path, 'POST', specimen.prefix, body);
    const request = `POST ${specimen.prefix} ${JSON.stringify(body)}`;
    if (created.status !== 201) return this.#expect(specimen, path, request, created, 201);
    const key = { ...proposed.row };
    for (const name of specimen.id)
      if (!proposed.given.includes(name))
        key[name] = String((created.json as Json)[specimen.attributes.get(name) ?? '']);
    const row = await this.#reload(specimen, key);
    if (!row) return this.#expect(specimen, path, `${request} is stored`, created.json, 'a row');
    this.#expect(specimen, path, request, created.json, toJson(specimen, row));
    this.#expect(
      specimen,
      path,
      `${request} as it was sent`,
      pick(created.json as Json, Object.keys(body)),
      body,
    );
    const address = `${specimen.prefix}/${this.#idOf(specimen, row)}`;
    this.#expect(specimen, path, `Location of ${request}`, created.location, address);
    await this.#patch(specimen, path, row);
    if (canReplace) {
      const replaced = await this.#send(
        specimen,
        path,
        'PUT',
        address,
        without(
          body,
          specimen.id.map((name) => specimen.attributes.get(name) ?? ''),
        ),
      );
      this.#expect(
        specimen,
        path,
        `PUT ${address}`,
        [replaced.status, replaced.json],
        [200, toJson(specimen, (await this.#reload(specimen, row)) ?? {})],
      );
    }
    const deleted = await this.#send(specimen, path, 'DELETE', address);
    this.#expect(
      specimen,
      path,
      `DELETE ${address}`,
      [deleted.status, await this.#reload(specimen, row)],
      [204, undefined],
    );
    this.#expect(
      specimen,
      path,
      `GET ${address} after DELETE`,
      (await this.#send(specimen, path, 'GET', address)).status,
      404,
    );
  }

  /** A row that the table would take, rolled back. */
  async #propose(table: Relation, at: number): ReturnType<RowMaker['insert']> {
    await this.client.query('BEGIN');
    let proposed = null;
    for (let row = 0; !proposed && row < 200; row += 1)
      proposed = await this.maker.insert(table, row + at * 3);
    await this.client.query('ROLLBACK');
    return proposed;
  }

  async #patch(specimen: Specimen, path: Path, row: Row): Promise<void> {
    const address = `${specimen.prefix}/${this.#idOf(specimen, row)}`;
    const found = await this.#send(specimen, path, 'GET', address);
    const kept = await this.#keptByTriggers(specimen, row);
    const json = found.json as Json;
    for (const column of specimen.table.columns) {
      const attribute = specimen.attributes.get(column.name) ?? '';
      const isRefused = specimen.id.includes(column.name) || column.isGenerated;
      const body = { [attribute]: json[attribute] };
      const changed = await this.#send(specimen, path, 'PATCH', address, body);
      const request = `PATCH ${address} ${JSON.stringify(body)}`;
      this.#expect(
        specimen,
        path,
        request,
        changed.status === (isRefused ? 422 : 200) ? changed.status : changed,
        isRefused ? 422 : 200,
      );
      const now = await this.#reload(specimen, row);
      this.#expect(specimen, path, `${request} in SQL`, without(now ?? {}, kept), without(row, kept));
      if (changed.status === 200)
        this.#expect(specimen, path, request, changed.json, toJson(specimen, now ?? {}));
    }
  }

  /** Columns that an UPDATE of nothing changes: those of triggers. */
  async #keptByTriggers({ table, id }: Specimen, row: Row): Promise<string[]> {
    await this.client.query('BEGIN');
    const own = quote(id[0] ?? '');
    const { rows } = await this.client.query(
      `UPDATE ${table.sql} t SET ${own} = ${own} WHERE ${this.#is(table, id)} RETURNING ${texts(table)}`,
      id.map((name) => row[name]),
    );
    await this.client.query('ROLLBACK');
    return table.columns.map(({ name }) => name).filter((name) => rows[0]?.[name] !== row[name]);
  }

  /** A row that a foreign key keeps is 409, and still there. Others are left alone, because later questions need them. */
  async #deleteNeeded(specimen: Specimen, path: Path, row: Row): Promise<void> {
    const { table, id } = specimen;
    await this.client.query('BEGIN');
    const isNeeded = await this.client
      .query(
        `DELETE FROM ${table.sql} t WHERE ${this.#is(table, id)}`,
        id.map((name) => row[name]),
      )
      .then(
        () => false,
        ({ code }) => code === '23503' || code === '23001',
      );
    await this.client.query('ROLLBACK');
    if (!isNeeded) return;
    const address = `${specimen.prefix}/${this.#idOf(specimen, row)}`;
    const deleted = await this.#send(specimen, path, 'DELETE', address);
    this.#expect(
      specimen,
      path,
      `DELETE ${address}, which others need`,
      [deleted.status, await this.#reload(specimen, row)],
      [409, row],
    );
  }

  async #reload({ table, id }: Specimen, row: Row): Promise<Row | undefined> {
    const { rows } = await this.client.query(
      `SELECT ${texts(table)} FROM ${table.sql} t WHERE ${this.#is(table, id)}`,
      id.map((name) => row[name]),
    );
    return rows[0];
  }

  #is(table: Relation, id: readonly string[]): string {
    const typeOf = (name: string) => table.columns.find((column) => column.name === name)?.type;
    return id.map((name, at) => `t.${quote(name)} = $${at + 1}::text::${typeOf(name)}`).join(' AND ');
  }

  async #same(specimen: Specimen, method: string, address: string, wanted: unknown): Promise<void> {
    for (const path of this.paths)
      this.#expect(
        specimen,
        path,
        `${method} ${address}`,
        (await this.#send(specimen, path, method, address)).json,
        wanted,
      );
  }

  async #send(
    specimen: Specimen,
    { send }: Path,
    method: string,
    address: string,
    body?: unknown,
  ): Promise<Answer> {
    this.#scoreOf(specimen).requests += 1;
    return send(method, address, body);
  }

  async #select(table: Relation, where: string, values: readonly unknown[], order: string): Promise<Row[]> {
    const { rows } = await this.client.query(
      `SELECT ${texts(table)} FROM ${table.sql} t ${where && `WHERE ${where}`} ${order} LIMIT 2000`,
      [...values],
    );
    return rows;
  }

  /** The order that is documented: the key is appended in the direction of the last column. */
  #orderOf({ id, table }: Specimen, order: readonly string[]): string {
    const terms =
      order.length === 0 && id.length === 0
        ? table.columns
            .filter(isSortable)
            .slice(0, 5)
            .map(({ name }) => name)
        : order;
    const isDown = terms.at(-1)?.startsWith('-') ?? false;
    const named = new Set(terms.map((name) => name.replace(/^-/, '')));
    const all = [
      ...terms,
      ...id.filter((name) => !named.has(name)).map((name) => `${isDown ? '-' : ''}${name}`),
    ];
    return `ORDER BY ${all.map((name) => (name.startsWith('-') ? `t.${quote(name.slice(1))} DESC` : `t.${quote(name)}`)).join() || '1'}`;
  }

  #idOf({ table, id }: Specimen, row: Row): string {
    const columns = id.flatMap((name) => table.columns.filter((column) => column.name === name));
    return idOf(
      columns,
      id.map((name) => row[name] ?? null),
    );
  }

  #some<T>(all: readonly T[]): readonly T[] {
    const step = Math.max(1, Math.ceil(all.length / this.few));
    this.#turn += 1;
    return all.filter((_, at) => (at + this.#turn) % step === 0);
  }

  #scoreOf({ table }: Specimen): Score {
    const score = this.scores.get(table.sql) ?? { requests: 0, differences: [] };
    this.scores.set(table.sql, score);
    return score;
  }

  #expect(specimen: Specimen, path: Path, request: string, got: unknown, wanted: unknown): void {
    if (isDeepStrictEqual(got, wanted)) return;
    this.#scoreOf(specimen).differences.push(`[${path.name}] ${request}\n${firstDifference(got, wanted)}`);
  }
}

interface Question {
  readonly q: { readonly column: string; readonly rest: string };
  readonly where: string;
  readonly values: readonly string[];
}

/** True where a list may be sorted by the column. */
export function isSortable(column: Column): boolean {
  return /[=<]/.test(ruleOf(column).operators);
}

/** A value of the type that rows hardly have; null where the type has none. */
function absentOf(column: Column): string | null {
  const { base, type, labels, element } = column;
  if (labels || element) return null;
  if (/^(smallint|integer|bigint)$/.test(base)) return '31999';
  if (/^(char|text|citext)/.test(base)) return 'zq'.slice(0, Number(/\((\d+)\)/.exec(type)?.[1] ?? 2));
  if (base === 'date' || base.startsWith('timestamp'))
    return `1899-12-31${base === 'date' ? '' : ' 00:00:00'}${base.endsWith('h time zone') ? '+00' : ''}`;
  return base === 'uuid' ? '00000000-0000-0000-0000-000000000000' : null;
}

function texts(table: Relation): string {
  return table.columns.map(({ name }) => `t.${quote(name)}::text AS ${quote(name)}`).join();
}

function toJson({ table, attributes }: Specimen, row: Row): Json {
  return Object.fromEntries(
    table.columns.map((column) => [
      attributes.get(column.name) ?? column.name,
      jsonOf(column, row[column.name] ?? null),
    ]),
  );
}

function pick(from: Json, names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}

function without(from: Readonly<Json>, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
}

/** The first place where two values differ, for a reader. */
function firstDifference(got: unknown, wanted: unknown, at = ''): string {
  const isTree = (value: unknown): value is Json => typeof value === 'object' && value !== null;
  if (isTree(got) && isTree(wanted)) {
    const name = [...new Set([...Object.keys(wanted), ...Object.keys(got)])].find(
      (each) => !isDeepStrictEqual(got[each], wanted[each]),
    );
    if (name !== undefined) return firstDifference(got[name], wanted[name], `${at}/${name}`);
  }
  const show = (value: unknown) => String(JSON.stringify(value)).slice(0, 300);
  return `    at ${at || '/'}: got ${show(got)}, and SQL has ${show(wanted)}`;
}
