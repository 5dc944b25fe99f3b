/** The command `export`: all records of a resource -> a file that is there when it is whole, or standard output. */
import { realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type ExportFormat, MEDIA_TYPES } from '../declare/export-options.js';
import { CommandFailure, describeAnswer } from './failure.js';
import { answerTo, type Send } from './private-server.js';
import type { Progress } from './progress.js';

/** An export of the command line. */
export interface ExportJob {
  readonly send: Send;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly format: ExportFormat;
  readonly headers: OutgoingHttpHeaders;
  /** Undefined for standard output. */
  readonly file: string | undefined;
  readonly stdout: Writable;
  readonly progress: Progress;
}

/** @returns the line that is printed @throws CommandFailure where the export is refused or cut */
export async function exportRecords(job: ExportJob): Promise<string> {
  const { send, path, query, format, headers, file, stdout, progress } = job;
  const target = file === undefined ? undefined : targetOf(file);
  query.set('format', format);
  // Rows are counted for the time left alone.
  if (target && process.stderr.isTTY) query.set('count', 'exact');
  const sent = send('GET', `${path}?${query}`, headers);
  sent.end();
  const answer = await answerTo(sent);
  const type = String(answer.headers['content-type']);
  if (answer.statusCode !== 200 || !type.startsWith(MEDIA_TYPES[format])) {
    const body = await text(answer);
    throw new CommandFailure(describeAnswer(answer.statusCode, body, answer.headers.location));
  }
  const counter = new RowCounter(format, Number(answer.headers['crud-total'] ?? Number.NaN), progress);
  if (target) await writeWhole(answer, counter, target);
  else await pass(answer, counter, stdout);
  progress.end();
  return target ? `${file}: ${counter.rows} rows.\n` : '';
}

/** Passes the answer on, and counts its rows. */
async function pass(answer: IncomingMessage, counter: RowCounter, target: Writable): Promise<void> {
  try {
    await pipeline(answer, (pieces: AsyncIterable<Buffer>) => counter.count(pieces), target);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ECONNRESET')
      throw new CommandFailure('The export was cut, and is not whole; the log of the application says why.');
    // The reader of the pipe has read enough, and the exit code says that it was not all.
    throw new CommandFailure(code === 'EPIPE' ? '' : `The export cannot be written: ${message}.`);
  }
  const rows = answer.trailers['crud-rows'];
  if (rows !== undefined && Number(rows) !== counter.rows)
    throw new CommandFailure(`The export has ${counter.rows} of ${rows} rows, and is not whole.`);
}

interface Target {
  readonly path: string;
  readonly mode: number;
}

/** Where a file goes. A link stays one, and permissions stay. @throws CommandFailure where the path is no file */
function targetOf(file: string): Target {
  const known = statSync(file, { throwIfNoEntry: false });
  if (known && !known.isFile())
    throw new CommandFailure(
      `--output is '${file}', which is no file; name a file, or leave it out for a pipe.`,
      2,
    );
  return { path: known ? realpathSync(file) : file, mode: known ? known.mode & 0o777 : 0o666 };
}

/** Writes beside the file, and renames at the end: a reader never sees a part. */
async function writeWhole(
  answer: IncomingMessage,
  counter: RowCounter,
  { path, mode }: Target,
): Promise<void> {
  // Two commands at once have two of them.
  const part = `${path}.${process.pid}.part`;
  const remove = () => rmSync(part, { force: true });
  process.once('exit', remove);
  try {
    // A stream that opens the file itself may do so after an answer was cut.
    const file = await open(part, 'w', mode).catch((cause: Error) => {
      throw new CommandFailure(`The export cannot be written: ${cause.message}.`);
    });
    await pass(answer, counter, file.createWriteStream({ flush: true }));
    renameSync(part, path);
  } finally {
    remove();
    process.removeListener('exit', remove);
  }
}

/** The byte at the end of a line. */
export const NEWLINE = 0x0a;
const QUOTE = 0x22;

/** Counts the rows that pass: lines of JSON, or lines of a CSV outside of quotes, less the line of names. */
class RowCounter {
  readonly #isCsv: boolean;
  readonly #total: number;
  readonly #progress: Progress;
  #lines = 0;
  #isQuoted = false;

  constructor(format: ExportFormat, total: number, progress: Progress) {
    this.#isCsv = format === 'csv';
    this.#total = total;
    this.#progress = progress;
  }

  get rows(): number {
    return this.#isCsv ? Math.max(0, this.#lines - 1) : this.#lines;
  }

  async *count(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      for (const byte of piece) {
        if (byte === NEWLINE && !this.#isQuoted) this.#lines += 1;
        else if (byte === QUOTE && this.#isCsv) this.#isQuoted = !this.#isQuoted;
      }
      const { rows } = this;
      this.#progress.update(rows, this.#total > 0 ? Math.min(1, rows / this.#total) : null);
      yield piece;
    }
  }
}
