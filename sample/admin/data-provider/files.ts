/** Files of the API: a download that is whole or an error, and the lines of an import. */
import { HttpError } from 'react-admin';

/** Progress of a file. */
export interface FileProgress {
  readonly rows: number;
  /** Undefined while nobody has counted them. */
  readonly total?: number;
  /** Share of an upload that is on its way, from 0 to 1. Of a large file the rows come back when all of it is sent. */
  readonly sent?: number;
}

/** One thing that is wrong with a row of an import. */
export interface ImportError {
  /** From 1, without the header. It is missing where the header is wrong. */
  readonly row?: number;
  readonly line: number;
  /** `/population`, or empty for all of the row. */
  readonly pointer?: string;
  readonly code: string;
  readonly detail: string;
}

/** Counts of an import, and the first errors. Where all or none are stored, none are as soon as `failed` is above 0. */
export interface ImportResult {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly errors: readonly ImportError[];
  readonly errors_shown: number;
}

/** A file that was downloaded. */
export interface Download {
  readonly blob: Blob;
  /** As the API names it: `cities-2026-11-25.csv`. */
  readonly name: string;
  readonly rows: number;
}

/** An answer that arrived in parts, and whose end is missing. */
export class CutError extends Error {
  override readonly name = 'CutError';
}

const QUOTE = 0x22;
const NEWLINE = 0x0a;

/** Reads a CSV to its end. @throws CutError where it has none */
export async function readDownload(
  response: Response,
  onProgress: (progress: FileProgress) => void,
): Promise<Download> {
  const counted = response.headers.get('Crud-Total');
  const total = counted === null ? {} : { total: Number(counted) };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  // The header is a line, too.
  let rows = -1;
  let isQuoted = false;
  for await (const part of partsOf(response)) {
    for (const byte of part) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      else if (byte === NEWLINE && !isQuoted) rows += 1;
    }
    parts.push(part);
    onProgress({ rows: Math.max(rows, 0), ...total });
  }
  const [, name = 'records.csv'] =
    /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '') ?? [];
  return { blob: new Blob(parts, { type: 'text/csv' }), name, rows: Math.max(rows, 0) };
}

/** A line of an import. The last one says that it is complete, or has the problem. */
type ImportLine = ImportResult & {
  readonly complete?: boolean;
  readonly status?: number;
  readonly problem?: unknown;
};

/** Reads the lines of an import. @throws CutError where the last one is missing, HttpError where nothing more is done */
export async function readImport(
  response: Response,
  onProgress: (progress: FileProgress) => void,
): Promise<ImportResult> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const part of partsOf(response)) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      // As the document says.
      const read = JSON.parse(line) as ImportLine;
      if (read.complete === true) return read;
      if (read.complete === false) return refusedRows(read.problem, read.status ?? 500);
      onProgress({ rows: read.rows });
    }
  }
  throw new CutError('The connection ended before the last row.');
}

/** The counts of a file of which rows are refused, so that nothing was stored. @throws HttpError for every other problem */
export function refusedRows(problem: unknown, status: number): ImportResult {
  const body = typeof problem === 'object' && problem !== null ? problem : {};
  if (status === 422 && 'failed' in body) return { created: 0, updated: 0, ...body } as ImportResult;
  const detail = 'detail' in body ? String(body.detail) : `Status ${status}`;
  throw new HttpError(detail, status, body);
}

async function* partsOf({ body }: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = body?.getReader();
  for (;;) {
    const part = await reader?.read().catch((error: unknown) => {
      // Somebody has cancelled it.
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw new CutError('The connection was cut.', { cause: error });
    });
    if (!part || part.done) return;
    yield part.value;
  }
}
