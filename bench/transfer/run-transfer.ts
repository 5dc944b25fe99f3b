/** Measures whole exports and imports, one after another, beside `COPY` and `unnest`. */
import { type IncomingMessage, request } from 'node:http';
import { fillStatements, ROWS } from '../load/article.js';
import { ContenderProcess } from '../measure/contender-process.js';
import { type Database, startServer } from '../measure/database.js';
import type { Options } from '../options.js';
import { type Circumstances, describeMachine } from '../report/machine.js';
import { definitions, table } from '../report/markdown.js';
import { medianOf, spreadOf, writeRatio } from '../report/statistics.js';
import { say } from '../say.js';
import { writeResults } from '../write-results.js';
import { copyArticles, importPrices } from './by-hand.js';
import { PRICE_TABLE, PRICES, pricesCsv } from './prices.js';

/** One whole export or import. */
interface Transfer {
  readonly title: string;
  /** The title of the one that it is compared with; null for the limit itself. */
  readonly beside: string | null;
  readonly rows: number;
  /** True where it goes through the process of ours, whose time and memory count. */
  readonly isOurs: boolean;
  /** Executed before it, unmeasured. */
  readonly before?: string;
  /** Returns the rows that were moved. @param underWay called as they move */
  run(ours: ContenderProcess, database: Database, underWay: () => void): Promise<number>;
}

/** Figures of a transfer. Growth is that of the resident memory, in bytes. */
interface Moved {
  readonly rate: number;
  readonly node: number;
  readonly growth: number;
}

const CSV = 'text/csv';
const NDJSON = 'application/x-ndjson';
const COPY = 'COPY … TO STDOUT';
const UNNEST = 'unnest by hand, chunks of 1,000';
const UNNEST_UPSERT = 'unnest by hand, ON CONFLICT';
const EMPTY = 'TRUNCATE prices RESTART IDENTITY';

/** They are measured in this order. */
function transfersOf(rows: number, prices: number): readonly Transfer[] {
  const csv = pricesCsv(prices);
  const byHand = (title: string, isUpsert: boolean): Transfer => ({
    title,
    beside: null,
    rows: prices,
    isOurs: false,
    before: isUpsert ? 'VACUUM ANALYZE prices' : EMPTY,
    run: (_ours, { url }) => importPrices(url, csv, isUpsert),
  });
  const imported = (title: string, beside: string, query: string, before: string, type = CSV): Transfer => ({
    title,
    beside,
    rows: prices,
    isOurs: true,
    before,
    run: (ours, _database, underWay) =>
      sendFile(ours, `/prices/import?${query}`, type, type === CSV ? csv : toNdjson(csv), underWay),
  });
  const exported = (title: string, path: string): Transfer => ({
    title,
    beside: COPY,
    rows,
    isOurs: true,
    run: (ours, _database, underWay) => receive(ours, path, underWay),
  });
  return [
    { title: COPY, beside: null, rows, isOurs: false, run: (_ours, { url }) => copyArticles(url) },
    exported('export as CSV', '/articles?format=csv'),
    exported('export as NDJSON', '/articles?format=ndjson'),
    exported('export as CSV, with records', '/record-articles?format=csv'),
    byHand(UNNEST, false),
    imported('import of CSV', UNNEST, 'mode=create', EMPTY),
    imported('import of NDJSON', UNNEST, 'mode=create', EMPTY, NDJSON),
    byHand(UNNEST_UPSERT, true),
    imported('import of CSV, upsert', UNNEST_UPSERT, 'mode=upsert&on=code', 'VACUUM ANALYZE prices'),
  ];
}

/** Measures, and writes the results. @returns true where all rows have moved */
export async function runTransfer(options: Options, command: readonly string[]): Promise<boolean> {
  const rows = options.isQuick ? ROWS / 100 : ROWS;
  const transfers = transfersOf(rows, options.isQuick ? PRICES / 100 : PRICES);
  await using server = await startServer();
  say(`Creating ${rows.toLocaleString('en')} rows`);
  const database = await server.create([...fillStatements(rows), PRICE_TABLE], rows);
  await using ours = await ContenderProcess.startOurs(__dirname, { databaseUrl: database.url });
  const moved = new Map<string, Moved[]>(transfers.map(({ title }) => [title, []]));
  // The first round compiles the code.
  for (let round = 0; round <= options.schedule.rounds; round += 1) {
    for (const transfer of transfers) {
      const figures = await measure(transfer, ours, database);
      say(`Round ${round}: ${transfer.title}, ${Math.round(figures.rate).toLocaleString('en')} rows/s`);
      if (round > 0) moved.get(transfer.title)?.push(figures);
    }
  }
  const machine = describeMachine(process.versions.node, await database.version(), command);
  const name = options.isPartial ? 'partial-transfer' : 'transfer';
  await writeResults(name, { md: report(transfers, moved, machine, options) });
  return true;
}

async function measure(transfer: Transfer, ours: ContenderProcess, database: Database): Promise<Moved> {
  if (transfer.before) await database.query(transfer.before);
  await database.untilQuiet();
  const own = process.cpuUsage();
  const before = ours.processorTime();
  const started = performance.now();
  let first = 0;
  let most = 0;
  const timer = setInterval(() => {
    if (first > 0) most = Math.max(most, ours.memory());
  }, 20);
  const count = await transfer.run(ours, database, () => {
    first ||= ours.memory();
  });
  clearInterval(timer);
  const seconds = (performance.now() - started) / 1_000;
  if (count !== transfer.rows) throw new Error(`${transfer.title} moved ${count} of ${transfer.rows} rows.`);
  const { user, system } = process.cpuUsage(own);
  const node = transfer.isOurs ? ours.processorTime() - before : user + system;
  return { rate: count / seconds, node: node / count, growth: Math.max(0, most - first) };
}

/** Reads an export, and counts its rows. */
async function receive(ours: ContenderProcess, path: string, underWay: () => void): Promise<number> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host: '127.0.0.1', port: ours.port, path }, resolve).on('error', reject).end();
  });
  if (response.statusCode !== 200) throw new Error(`${path} answers ${response.statusCode}.`);
  let lines = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
    underWay();
  }
  if (!response.complete) throw new Error(`${path} was cut.`);
  return path.includes('csv') ? lines - 1 : lines;
}

/** Sends a file. @returns the number of rows that were written */
async function sendFile(
  ours: ContenderProcess,
  path: string,
  type: string,
  file: string,
  underWay: () => void,
): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    const headers = { 'Content-Type': type, 'Content-Length': Buffer.byteLength(file) };
    const sent = request(
      { host: '127.0.0.1', port: ours.port, path, method: 'POST', headers },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          body += part;
        });
        response.on('end', () =>
          response.statusCode === 200
            ? resolve(body)
            : reject(new Error(`${path} answers ${response.statusCode}: ${body.slice(0, 300)}`)),
        );
      },
    );
    sent.on('error', reject).on('drain', underWay).end(file);
    setTimeout(underWay, 200);
  });
  const { created, updated } = JSON.parse(text) as { readonly created: number; readonly updated: number };
  return created + updated;
}

/** No value of the file has a comma behind quotes but the names of lamps. */
function toNdjson(csv: string): string {
  const lines = csv.trimEnd().split('\r\n').slice(1);
  return lines
    .map((line) => {
      const [, code, quoted, plain, stock, price] =
        /^([^,]*),(?:"((?:[^"]|"")*)"|([^,"]*)),(\d+),([^,]*)$/.exec(line) ?? [];
      const name = quoted?.replaceAll('""', '"') ?? plain;
      return `${JSON.stringify({ code, name, stock: Number(stock), price: price || null })}\n`;
    })
    .join('');
}

function report(
  transfers: readonly Transfer[],
  moved: ReadonlyMap<string, readonly Moved[]>,
  machine: Circumstances,
  { schedule: { rounds }, isPartial }: Options,
): string {
  const lines = transfers.map(({ title, beside, rows, isOurs }) => {
    const own = moved.get(title) ?? [];
    const limit = beside === null ? own : (moved.get(beside) ?? []);
    const { median, lowest, highest } = spreadOf(own.map(({ rate }) => rate));
    const ratio = spreadOf(own.map(({ rate }, round) => rate / (limit[round]?.rate ?? Number.NaN)));
    const growth = Math.max(...own.map((each) => each.growth)) / 1e6;
    return [
      title,
      rows.toLocaleString('en'),
      `${thousands(median)} (${thousands(lowest)}–${thousands(highest)})`,
      writeRatio(ratio),
      medianOf(own.map(({ node }) => node)).toFixed(1),
      isOurs ? growth.toFixed(0) : '–',
    ];
  });
  return `${[
    '# Whole exports and imports',
    ...(isPartial ? ['**A short run. Nothing to quote.**'] : []),
    `Medians of ${rounds} rounds in turn, one transfer at a time, after one that warms up; in parentheses the lowest and the highest round. A ratio is the median of the ratios that the rounds have to the limit above. Memory is the resident memory of ours at most beyond that at the first bytes, in any round. How it is measured is in [README.md](../README.md).`,
    definitions(machine),
    table(['', 'rows', 'thousand rows/s', 'to the limit', 'Node µs a row', 'growth of memory, MB'], lines),
  ].join('\n\n')}\n`;
}

function thousands(rate: number): string {
  return (rate / 1_000).toFixed(0);
}
