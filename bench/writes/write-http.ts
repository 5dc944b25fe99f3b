/** The server of those that write by hand on bare `node:http`. */
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ArticleValues, checkChanges, checkValues } from '../contenders/support/article-values.js';
import { HOST } from '../contenders/support/environment.js';
import { parse, readText, send } from '../contenders/support/http.js';
import type { TextRow } from '../contenders/support/lean-query.js';
import type { Statement } from '../contenders/support/statements.js';
import { ORDERS_PATH, type OrderServer } from './order-http.js';
import { BATCH } from './versioned-articles.js';
import {
  insertMany,
  insertOne,
  insertWithKey,
  type RequestKey,
  readKey,
  readOne,
  updateMany,
  updateOne,
  updateRange,
} from './write-statements.js';
import type { Change } from './write-wires.js';

/** A row that was written or read. */
export interface Written {
  readonly json: string;
  readonly version: string | number;
  /** Its place in the request, where the statement returns it. */
  readonly place: number;
}

/** Executes statements. */
export interface Runner {
  /** Rows of articles. */
  rows(statement: Statement): Promise<readonly Written[]>;
  /** Rows of texts. */
  texts(statement: Statement): Promise<readonly TextRow[]>;
  /** The JSON that `rows` makes of a row whose values are texts. */
  fromTexts(row: TextRow): string;
}

const PATH = '/articles';
/** Whose keys are whose: there is one user. */
const SCOPE = `bench POST ${PATH}`;
const TAG = /^"(\d{1,9})"$/;
const KEY = /^"?([!-~]{1,255}?)"?$/;
const RANGE = /^\?from=(\d{1,9})&to=(\d{1,9})$/;

/** Listens. @param orders answers requests for orders; left out by those that have none */
export function serveWrites(runner: Runner, port: number, orders?: OrderServer): void {
  const app = new WriteServer(runner);
  createServer((request, response) => {
    const server = orders && request.url?.startsWith(ORDERS_PATH) ? orders : app;
    server.answer(request, response).catch(() => send(response, 500, '{"error":"Internal Server Error"}'));
  }).listen(port, HOST);
}

class WriteServer {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', method, headers } = request;
    if (url.startsWith(`${PATH}/`)) {
      const id = Number(url.slice(PATH.length + 1));
      if (!Number.isInteger(id)) return refuse(response, 400);
      if (method === 'GET') return sendOne(response, 200, await this.#runner.rows(readOne(id)));
      if (method === 'PATCH') return this.#update(response, id, await readText(request), headers['if-match']);
    } else if (url === PATH) {
      const text = await readText(request);
      if (method === 'POST') return this.#create(response, text, headers['idempotency-key']);
      if (method === 'PATCH') return this.#updateMany(response, parse(text));
    } else if (url.startsWith(`${PATH}?`) && method === 'PATCH') {
      return this.#updateRange(response, url.slice(PATH.length), parse(await readText(request)));
    }
    refuse(response, 404);
  }

  async #create(response: ServerResponse, text: string, key: string | string[] | undefined): Promise<void> {
    const body = parse(text);
    if (Array.isArray(body)) return this.#createMany(response, body);
    const values = checkValues(body);
    if (!values) return refuse(response, 422);
    if (key !== undefined) return this.#createWithKey(response, values, text, String(key));
    sendOne(response, 201, await this.#runner.rows(insertOne(values)));
  }

  async #createWithKey(
    response: ServerResponse,
    values: ArticleValues,
    text: string,
    header: string,
  ): Promise<void> {
    const [, name] = KEY.exec(header) ?? [];
    if (!name) return refuse(response, 400);
    const key: RequestKey = [SCOPE, name, hash('sha256', text, 'base64')];
    try {
      sendOne(response, 201, await this.#runner.rows(insertWithKey(values, key)));
    } catch (error) {
      if ((error as { code?: string }).code !== '23505') throw error;
      const [[fingerprint, answer] = []] = await this.#runner.texts(readKey(key));
      if (fingerprint !== key[2] || !answer) return refuse(response, 422);
      const json = this.#runner.fromTexts(JSON.parse(answer) as TextRow);
      send(response, 201, json, { 'Idempotent-Replayed': 'true' });
    }
  }

  async #createMany(response: ServerResponse, body: readonly unknown[]): Promise<void> {
    const all = checkAll(body, checkValues);
    if (!all) return refuse(response, 422);
    sendMany(response, 201, await this.#runner.rows(insertMany(all)));
  }

  async #update(
    response: ServerResponse,
    id: number,
    text: string,
    condition: string | undefined,
  ): Promise<void> {
    const changes = checkChanges(parse(text));
    if (!changes) return refuse(response, 422);
    const [, version = null] = condition === undefined ? [] : (TAG.exec(condition) ?? [condition, '-1']);
    const rows = await this.#runner.rows(updateOne(id, changes, version === null ? null : Number(version)));
    if (rows.length > 0 || version === null) return sendOne(response, 200, rows);
    const [row] = await this.#runner.rows(readOne(id));
    if (row) refuse(response, 412, { ETag: `"${row.version}"` });
    else refuse(response, 404);
  }

  async #updateMany(response: ServerResponse, body: unknown): Promise<void> {
    const all = Array.isArray(body) ? checkAll(body, checkChange) : null;
    if (!all) return refuse(response, 422);
    const rows = await this.#runner.rows(updateMany(all));
    // Nothing says in which order PostgreSQL answers.
    const ordered = Array.from<Written>({ length: all.length });
    for (const row of rows) ordered[row.place - 1] = row;
    if (rows.length < all.length) return refuse(response, 404);
    sendMany(response, 200, ordered);
  }

  async #updateRange(response: ServerResponse, search: string, body: unknown): Promise<void> {
    const [, from, to] = RANGE.exec(search) ?? [];
    const changes = checkChanges(body);
    if (!from || !to) return refuse(response, 400);
    if (!changes) return refuse(response, 422);
    const [[count] = []] = await this.#runner.texts(updateRange(Number(from), Number(to), changes));
    if (Number(count) > BATCH) return refuse(response, 409);
    send(response, 200, `{"affected":${count}}`);
  }
}

function checkChange(body: unknown): Change | null {
  const { id, ...changes } = (body ?? {}) as { id?: unknown };
  const checked = Number.isInteger(id) ? checkChanges(changes) : null;
  return checked && { ...checked, id: id as number };
}

/** Null where one of them is wrong, and where they are none or too many. */
function checkAll<T>(body: readonly unknown[], check: (each: unknown) => T | null): readonly T[] | null {
  if (body.length === 0 || body.length > BATCH) return null;
  const all: T[] = [];
  for (const each of body) {
    const checked = check(each);
    if (!checked) return null;
    all.push(checked);
  }
  return all;
}

function sendOne(response: ServerResponse, status: number, [row]: readonly Written[]): void {
  if (row) send(response, status, row.json, { ETag: `"${row.version}"` });
  else refuse(response, 404);
}

function sendMany(response: ServerResponse, status: number, rows: readonly Written[]): void {
  let items = '';
  for (const { json } of rows) items += items === '' ? json : `,${json}`;
  send(response, status, `{"items":[${items}]}`);
}

function refuse(response: ServerResponse, status: number, headers?: Readonly<Record<string, string>>): void {
  send(response, status, `{"error":${status}}`, headers);
}
