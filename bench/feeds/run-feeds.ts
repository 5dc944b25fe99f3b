/** Measures open streams of changes: their memory, the statements of an idle process, and events that are judged in a second. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fillStatements } from '../load/article.js';
import { ContenderProcess } from '../measure/contender-process.js';
import { type Database, startServer } from '../measure/database.js';
import type { Options } from '../options.js';
import { describeMachine } from '../report/machine.js';
import { definitions, table } from '../report/markdown.js';
import { say } from '../say.js';
import { writeResults } from '../write-results.js';

const STREAMS = 1_000;
const EVENTS = 100_000;
const ROWS = 1_000;
const IDLE = 30_000;

/** Measures, and writes the results. */
export async function runFeeds(options: Options, command: readonly string[]): Promise<boolean> {
  const scale = options.isQuick ? 10 : 1;
  await using server = await startServer();
  const database = await server.create(fillStatements(ROWS), ROWS);
  await using ours = await ContenderProcess.startOurs(__dirname, { databaseUrl: database.url });
  const judged = await measurePages(ours, database, EVENTS / scale);
  say(`${judged.all} events/s, ${judged.some} where one of two is seen`);
  const streams = await measureStreams(ours, database, STREAMS / scale, IDLE / scale);
  const machine = describeMachine(process.versions.node, await database.version(), command);
  const rows = [
    ['events of pages in a second', judged.all],
    ['the same, of which `q` finds half', judged.some],
    [`${STREAMS / scale} open streams: memory of a stream`, `${streams.memory} kB`],
    ['statements of an idle minute', streams.statements],
    ['one event for all of them, until the last one has it', `${streams.spread} ms`],
  ];
  const md = `# Feeds of changes\n\n${definitions(machine)}\n\n${table(
    ['', ''],
    rows.map(([name, figure]) => [String(name), String(figure)]),
  )}\n`;
  await writeResults(options.isPartial ? 'partial-feeds' : 'feeds', { md });
  return true;
}

async function measurePages(ours: ContenderProcess, database: Database, events: number) {
  const page = async (query: string) => {
    const response = await fetch(`http://127.0.0.1:${ours.port}/articles/changes?${query}`);
    if (!response.ok) throw new Error(`It answered ${response.status}.`);
    return (await response.json()) as { items: unknown[]; next_cursor: string; has_next: boolean };
  };
  const begin = await page('after=now');
  const half = await page('after=now&q=stock<500');
  for (let written = 0; written < events; written += ROWS) {
    await database.query('UPDATE articles SET stock = (stock + 1) % 1000');
    if (written % (5 * ROWS) === 0) await page('after=now&wait=0');
    await delay(written % (5 * ROWS) === 0 ? 260 : 0);
  }
  const rateOf = async (from: string, query: string) => {
    const started = performance.now();
    for (let place = from, isMore = true; isMore; ) {
      const { next_cursor, has_next } = await page(`after=${place}&size=1000${query}`);
      place = next_cursor;
      isMore = has_next;
    }
    return Math.round((events / (performance.now() - started)) * 1_000);
  };
  return { all: await rateOf(begin.next_cursor, ''), some: await rateOf(half.next_cursor, '&q=stock<500') };
}

async function measureStreams(ours: ContenderProcess, database: Database, count: number, idle: number) {
  const before = await settledMemory(ours);
  const streams: IncomingMessage[] = [];
  while (streams.length < count) {
    const some = Array.from({ length: 50 }, async () => {
      const options = { headers: { Accept: 'text/event-stream' }, agent: false };
      const [response] = await once(
        get(`http://127.0.0.1:${ours.port}/articles/changes`, options),
        'response',
      );
      return response as IncomingMessage;
    });
    streams.push(...(await Promise.all(some)));
  }
  for (const stream of streams) stream.on('data', () => {});
  const memory = Math.round(((await settledMemory(ours)) - before) / count / 1024);
  const calls = async () => {
    const [row] = await database.query<{ n: string }>(
      'SELECT xact_commit::text AS n FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(row?.n);
  };
  await delay(2_000);
  const first = await calls();
  await delay(idle);
  const statements = Math.round((((await calls()) - first) / idle) * 60_000);
  const got = streams.map((stream) => once(stream, 'data'));
  const started = performance.now();
  await database.query('UPDATE articles SET stock = stock + 1 WHERE id = 1');
  await Promise.all(got);
  const spread = Math.round(performance.now() - started);
  for (const stream of streams) stream.destroy();
  return { memory, statements, spread };
}

async function settledMemory(ours: ContenderProcess): Promise<number> {
  await delay(3_000);
  return ours.memory();
}
