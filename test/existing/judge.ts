/** One model before its judge: requests to the applications of both paths, rows from SQL, and the differences. */
import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import type { Specimen } from './generated.js';
import type { Row } from './rows.js';
import { type Column, quote } from './tables.js';
import { idOf, jsonOf, ruleOf } from './wire.js';

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly json: unknown;
}

/** The application of a path. */
export interface Path {
  readonly name: string;
  send(method: string, address: string, body?: unknown): Promise<Answer>;
}

export type Json = Record<string, unknown>;

/** Judges the answers about one model. */
export class Judge {
  requests = 0;
  readonly differences: string[] = [];

  constructor(
    readonly client: Client,
    readonly paths: readonly Path[],
    readonly specimen: Specimen,
  ) {}

  async send(path: Path, method: string, address: string, body?: unknown): Promise<Answer> {
    this.requests += 1;
    return path.send(method, address, body);
  }

  /** Sends a GET to both applications; `part` selects the part that has to be equal, such as the records of a page. */
  async get(address: string, wanted: unknown, part: (answer: Answer) => unknown): Promise<void> {
    for (const path of this.paths) {
      const answer = await this.send(path, 'GET', address);
      const request = `GET ${decodeURIComponent(address)}`;
      if (answer.status !== 200) this.expect(path, request, answer.json, answer.status);
      else this.expect(path, request, part(answer), wanted);
    }
  }

  expect(path: Path, request: string, got: unknown, wanted: unknown): void {
    if (isDeepStrictEqual(got, wanted)) return;
    const place = firstDifference(got, wanted);
    this.differences.push(`${this.specimen.table.sql} [${path.name}] ${request}\n    ${place}`);
  }

  /** Rows as texts, in an order that is documented. */
  async select(
    order: readonly string[] = [],
    where = 'true',
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const { table } = this.specimen;
    const sql = `SELECT ${texts(this.specimen)} FROM ${table.from} t WHERE ${where} ${orderBy(this.specimen, order)} LIMIT 2000`;
    return (await this.client.query(sql, [...values])).rows;
  }

  /** The row with the key of another, as it is now. */
  async reload(row: Row): Promise<Row | undefined> {
    return (await this.select([], this.key, this.keyOf(row)))[0];
  }

  /** Result of work that is rolled back. */
  async tryOut<T>(work: () => Promise<T>): Promise<T> {
    await this.client.query('BEGIN');
    try {
      return await work();
    } finally {
      await this.client.query('ROLLBACK');
    }
  }

  /** The condition of one row. */
  get key(): string {
    const { id, table } = this.specimen;
    const typeOf = (name: string) => table.columns.find((column) => column.name === name)?.type;
    return id.map((name, at) => `t.${quote(name)} = $${at + 1}::text::${typeOf(name)}`).join(' AND ');
  }

  keyOf(row: Row): (string | null)[] {
    return this.specimen.id.map((name) => row[name] ?? null);
  }

  addressOf(row: Row): string {
    const { id, prefix, table } = this.specimen;
    const columns = id.flatMap((name) => table.columns.filter((column) => column.name === name));
    return `${prefix}/${idOf(columns, this.keyOf(row))}`;
  }
}

/** True where a list may be sorted by the column. */
export function isSortable(column: Column): boolean {
  return /[=<]/.test(ruleOf(column).operators);
}

/** Columns of answers. */
export function shownColumns({ table, hidden }: Specimen): readonly Column[] {
  return table.columns.filter(({ name }) => !hidden.has(name));
}

/** A record of the wire. */
export function toJson(specimen: Specimen, row: Row): Json {
  const entries = shownColumns(specimen).map((column) => [
    specimen.attributes.get(column.name),
    jsonOf(column, row[column.name] ?? null),
  ]);
  return Object.fromEntries(entries);
}

export function texts({ table }: Specimen): string {
  return table.columns.map(({ name }) => `t.${quote(name)}::text AS ${quote(name)}`).join();
}

/** The key is appended in the direction of the last column. */
export function orderBy({ id }: Specimen, order: readonly string[]): string {
  const named = new Set(order.map((name) => name.replace(/^-/, '')));
  const minus = order.at(-1)?.startsWith('-') ? '-' : '';
  const all = [...order, ...id.filter((name) => !named.has(name)).map((name) => `${minus}${name}`)];
  const spell = (name: string) =>
    name.startsWith('-') ? `t.${quote(name.slice(1))} DESC` : `t.${quote(name)}`;
  return all.length > 0 ? `ORDER BY ${all.map(spell).join()}` : '';
}

/** The first place where two values differ. */
function firstDifference(got: unknown, wanted: unknown, at = ''): string {
  const isTree = (value: unknown): value is Json => typeof value === 'object' && value !== null;
  if (isTree(got) && isTree(wanted)) {
    const names = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
    const name = names.find((each) => !isDeepStrictEqual(got[each], wanted[each]));
    if (name !== undefined) return firstDifference(got[name], wanted[name], `${at}/${name}`);
  }
  const show = (value: unknown) => String(JSON.stringify(value)).slice(0, 300);
  return `at ${at || '/'}: got ${show(got)}, and SQL has ${show(wanted)}`;
}
