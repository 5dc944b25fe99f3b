/** A server on bare `node:http`: routes, bodies and answers by hand. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { HOST } from './environment.js';
import { readPageQuery } from './page-query.js';
import type { PageQuery } from './statements.js';

/** The resource behind the server; each method answers with JSON text. */
export interface ArticleStore {
  read(id: number): Promise<string | null>;
  page(query: PageQuery): Promise<string>;
  countedPage(query: PageQuery): Promise<string>;
  /** Null when the body is wrong. */
  create(body: unknown): Promise<string | null>;
  /** Null when there is no such article; undefined when the body is wrong. */
  update(id: number, body: unknown): Promise<string | null | undefined>;
}

const PATH = '/articles';
const LONGEST_BODY = 100_000;

/** Serves `/articles` from the store. */
export function serveArticles(store: ArticleStore, port: number): void {
  const listener: RequestListener = (request, response) => {
    answer(store, request, response).catch(() => send(response, 500, '{"error":"Internal Server Error"}'));
  };
  createServer(listener).listen(port, HOST);
}

async function answer(
  store: ArticleStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url = '', method } = request;
  if (url.startsWith(`${PATH}/`)) {
    const id = Number(url.slice(PATH.length + 1));
    if (!Number.isInteger(id)) return send(response, 400, '{"error":"Bad id"}');
    if (method === 'GET') return sendFound(response, await store.read(id));
    if (method === 'PATCH') return sendFound(response, await store.update(id, await readBody(request)));
  } else if (url === PATH || url.startsWith(`${PATH}?`)) {
    if (method === 'GET') return list(store, url, response);
    if (method === 'POST') return sendCreated(response, await store.create(await readBody(request)));
  }
  send(response, 404, '{"error":"Not Found"}');
}

async function list(store: ArticleStore, url: string, response: ServerResponse): Promise<void> {
  const parameters = Object.fromEntries(new URLSearchParams(url.slice(PATH.length + 1)));
  const query = readPageQuery(parameters);
  if (!query) return send(response, 400, '{"error":"Bad query"}');
  send(response, 200, await (query.isCounted ? store.countedPage(query) : store.page(query)));
}

function sendFound(response: ServerResponse, text: string | null | undefined): void {
  if (text) send(response, 200, text);
  else if (text === null) send(response, 404, '{"error":"Not Found"}');
  else send(response, 422, '{"error":"Bad body"}');
}

function sendCreated(response: ServerResponse, text: string | null): void {
  if (text) send(response, 201, text);
  else send(response, 422, '{"error":"Bad body"}');
}

/** Answers with JSON. */
export function send(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  return parse(await readText(request));
}

/** The body, as it came. */
export function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > LONGEST_BODY) request.destroy(new Error('The body is too long.'));
      chunks.push(chunk);
    });
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}

/** The value of a body; undefined for a text that is no JSON, which every check refuses. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
