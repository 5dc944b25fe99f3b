/** The server of contenders that answer with relations on bare `node:http`: `/writers?size=20&include=books`. */
import { createServer, type ServerResponse } from 'node:http';
import { HOST } from '../contenders/support/environment.js';

/** The relations of the parameter `include`. */
export type Include = 'writer' | 'books' | 'books.publisher' | null;

/** A list of books or of writers. */
export interface LibraryQuery {
  readonly table: 'books' | 'writers';
  readonly size: number;
  /** True where the last ids come first. */
  readonly isDescending: boolean;
  readonly include: Include;
  /** Books whose writer is of this country. */
  readonly country: string | null;
  /** Writers who have a book of this category. */
  readonly category: string | null;
}

/** Children of each record. */
export const CHILDREN = 3;

const INCLUDES: readonly Include[] = [null, 'writer', 'books', 'books.publisher'];

/** Reads `?size=20&order=desc&include=books&country=x&category=x`; null when something is wrong. */
export function readLibraryQuery(target: string): LibraryQuery | null {
  const [path, search = ''] = target.split('?', 2);
  const table = path === '/books' ? 'books' : path === '/writers' ? 'writers' : null;
  const parameters = new URLSearchParams(search);
  const size = Number(parameters.get('size') ?? 20);
  const include = parameters.get('include') as Include;
  if (!table || !(Number.isInteger(size) && size > 0 && size <= 100) || !INCLUDES.includes(include))
    return null;
  return {
    table,
    size,
    isDescending: parameters.get('order') === 'desc',
    include,
    country: parameters.get('country'),
    category: parameters.get('category'),
  };
}

/** Serves lists. @param list returns the answer as JSON text */
export function serveLibrary(list: (query: LibraryQuery) => Promise<string>, port: number): void {
  createServer((request, response) => {
    const query = readLibraryQuery(request.url ?? '');
    if (!query) return send(response, 400, '{"error":"Bad query"}');
    list(query).then(
      (text) => send(response, 200, text),
      () => send(response, 500, '{"error":"Internal Server Error"}'),
    );
  }).listen(port, HOST);
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
