/** The command `import`: a file, or standard input -> rows that are stored, and a table of those that are refused. */
import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type ExportFormat, MEDIA_TYPES } from '../declare/export-options.js';
import { NEWLINE } from './export-records.js';
import { CommandFailure, describeAnswer, issueTable, type ShownIssue } from './failure.js';
import { answerTo, type Send } from './private-server.js';
import type { Progress } from './progress.js';

const LINES = MEDIA_TYPES.ndjson;

/** An import of the command line. */
export interface ImportJob {
  readonly send: Send;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly format: ExportFormat;
  readonly headers: OutgoingHttpHeaders;
  /** `-` for standard input. */
  readonly file: string;
  readonly progress: Progress;
}

/** A line of the answer: the counts so far, and in the last one the result. */
interface ImportLine {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  readonly errors?: readonly ShownIssue[];
  readonly complete?: boolean;
  readonly status?: number;
  readonly problem?: object;
}

/** @returns the line that is printed @throws CommandFailure where rows are refused, or the answer is cut */
export async function importRecords(job: ImportJob): Promise<string> {
  const { send, path, query, format, headers, file, progress } = job;
  const isZipped = /\.gz$/i.test(file);
  const size = file === '-' ? null : sizeOf(file);
  const source = file === '-' ? process.stdin : createReadStream(file);
  const sent = send('POST', `${path}?${query}`, {
    ...headers,
    'Content-Type': MEDIA_TYPES[format],
    Accept: `${LINES}, application/json;q=0.5, application/problem+json`,
    ...(isZipped ? { 'Content-Encoding': 'gzip' } : {}),
  });
  const passed = { bytes: 0, lines: 0 };
  const answered = answerTo(sent).catch(() => null);
  // An application that refuses the head of a request reads no file, and answers.
  pipeline(source, (pieces: AsyncIterable<Buffer>) => countPassed(pieces, passed), sent).catch(() => {});
  const answer = await Promise.race([answered, untilBroken(source)]);
  // The connection holds rows that are not stored yet: their number comes from the lines so far.
  const show = ({ rows }: ImportLine) => {
    const all = isZipped || !size ? 0 : (passed.lines * size) / passed.bytes;
    progress.update(rows, all > 0 ? Math.min(1, rows / all) : null);
  };
  const last = answer && (await Promise.race([lastLine(answer, show), untilBroken(source)]));
  progress.end();
  source.destroy();
  if (last?.complete === false)
    throw new CommandFailure(describeAnswer(last.status, JSON.stringify(last.problem)));
  if (!last)
    throw new CommandFailure(
      headers['Idempotency-Key'] === undefined
        ? 'The answer was cut, so that nothing says whether the rows are stored. With --key=<text> a file can be sent again safely.'
        : 'The answer was cut. The same command with the same file and --key goes on where it was; for up to two minutes it may be 409.',
    );
  const isReplayed = answer?.headers['idempotent-replayed'] === 'true';
  return summarize(last, query.get('dry_run') === 'true', isReplayed);
}

/** @returns null for a pipe @throws CommandFailure where it is not there */
function sizeOf(file: string): number | null {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats || stats.isDirectory()) throw new CommandFailure(`There is no file '${file}'.`, 2);
  return stats.isFile() ? stats.size : null;
}

/** Rejects where the file cannot be read. */
function untilBroken(source: Readable): Promise<never> {
  return new Promise((_resolve, reject) => {
    source.once('error', (cause) => reject(new CommandFailure(`The file cannot be read: ${cause.message}.`)));
  });
}

async function* countPassed(
  pieces: AsyncIterable<Buffer>,
  passed: { bytes: number; lines: number },
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    passed.bytes += piece.length;
    for (const byte of piece) if (byte === NEWLINE) passed.lines += 1;
    yield piece;
  }
}

/** The result, or null where the answer ends before it. @throws CommandFailure for an answer that is refused */
async function lastLine(
  answer: IncomingMessage,
  show: (line: ImportLine) => void,
): Promise<ImportLine | null> {
  const { statusCode, headers } = answer;
  const type = String(headers['content-type']);
  if (!type.startsWith(LINES)) {
    const body = await text(answer);
    if ((statusCode !== 200 && statusCode !== 207) || !type.startsWith('application/json'))
      throw new CommandFailure(describeAnswer(statusCode, body, headers.location));
    return JSON.parse(body);
  }
  try {
    for await (const line of createInterface({ input: answer })) {
      const parsed: ImportLine = JSON.parse(line);
      if (parsed.complete !== undefined) return parsed;
      show(parsed);
    }
  } catch {
    // A line that is cut, or the connection: there is no result.
  }
  return null;
}

/** @throws CommandFailure with a table where rows were left out */
function summarize(result: ImportLine, isDry: boolean, isReplayed: boolean): string {
  const { rows, created, updated, failed, errors = [] } = result;
  const counts = `${rows} rows: ${created} created, ${updated} updated, ${failed} refused.`;
  const more = [
    ...(isDry ? ['Nothing was stored: it was a dry run.'] : []),
    ...(isReplayed ? ['It was done before, under this key.'] : []),
  ];
  const line = [counts, ...more].join(' ');
  if (failed > 0) throw new CommandFailure(`${line}\n${issueTable(errors)}`);
  return `${line}\n`;
}
