/** Compares the first page of a million rows with the page at depth 990,000, by cursor; prints, and asserts nothing. */
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { bootstrap, Crud, engineLifespan } from 'crud-controllers';
import express from 'express';
import type { Sequelize } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { freshDatabase, startPostgres } from '../test/support/postgres.js';

const ROWS = 1_000_000;
const DEPTH = 990_000;
const SIZE = 20;
/** Rows of a page on the way to the depth. */
const STRIDE = 10_000;
const WARM_UP = 100;
const SAMPLES = 400;

@Crud({ pagination: 'cursor', sortAllow: ['id', 'name', 'score'], pageSize: { default: SIZE, max: STRIDE } })
@Table({ tableName: 'entries', timestamps: false })
class Entry extends Model {
  @PrimaryKey
  @Column(DataType.INTEGER)
  declare id: number;

  @Column({ type: DataType.TEXT, allowNull: false })
  declare name: string;

  /** NULL in every tenth row, and shared by about nine others: pages begin within ties. */
  @Column(DataType.INTEGER)
  declare score: number | null;
}

/** Those that the warning at the start would ask for; a descending order walks them backward, NULLs first. */
const FILL = [
  'CREATE TABLE entries (id integer PRIMARY KEY, name text NOT NULL, score integer)',
  `INSERT INTO entries SELECT i, md5(i::text), CASE WHEN i % 10 > 0 THEN hashint4(i) & 65535 END
     FROM generate_series(1, ${ROWS}) AS i`,
  'CREATE INDEX ON entries (name, id)',
  'CREATE INDEX ON entries (score, id)',
  // Before the measurement, so that the server does not do it during it.
  'VACUUM (FREEZE, ANALYZE) entries',
];

const SORTS = ['id', '-id', 'name', '-score'];

/** One page, asked for again and again. */
interface Probe {
  readonly label: string;
  readonly times: number[];
  ask(): Promise<unknown>;
}

async function main(): Promise<void> {
  const database = await freshDatabase('bench');
  try {
    // Filling the table takes longer than a request may.
    const dialectOptions = { statement_timeout: 0, query_timeout: 0 };
    await using engine = await engineLifespan(database.url, { models: [Entry], dialectOptions })();
    await fill(engine.sequelize);
    const app = express();
    await bootstrap(app, { models: [Entry], health: false });
    const server = createServer(app).listen(0);
    await once(server, 'listening');
    const list = `http://localhost:${(server.address() as AddressInfo).port}/entries`;
    const rows: Record<string, readonly Probe[]> = {};
    for (const sort of SORTS) rows[sort] = await prepare(`${list}?sort=${sort}`);
    await measure(Object.values(rows).flat());
    report(rows);
    server.closeAllConnections();
    server.close();
  } finally {
    await database.drop();
    await (await startPostgres()).stop();
  }
}

async function fill(sequelize: Sequelize): Promise<void> {
  for (const statement of FILL) await sequelize.query(statement);
}

/** The second page shows what a page that starts at a cursor costs, apart from what depth costs. */
async function prepare(list: string): Promise<Probe[]> {
  const first = await ask(list);
  const deep = await cursorAt(list, DEPTH);
  return [
    { label: 'first', times: [], ask: () => ask(list) },
    { label: 'second', times: [], ask: () => ask(`${list}&after=${first.next_cursor}`) },
    { label: 'deep', times: [], ask: () => ask(`${list}&after=${deep}`) },
  ];
}

async function ask(url: string): Promise<{ readonly next_cursor: string }> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as { next_cursor: string };
}

/** The cursor after this many rows, by walking there. */
async function cursorAt(list: string, depth: number): Promise<string> {
  let { next_cursor: cursor } = await ask(`${list}&fields=id&size=${STRIDE}`);
  for (let at = STRIDE; at < depth; at += STRIDE) {
    ({ next_cursor: cursor } = await ask(`${list}&fields=id&size=${STRIDE}&after=${cursor}`));
  }
  return cursor;
}

/** All in turn, each round from another one on: what the machine does meanwhile meets all of them alike. */
async function measure(probes: readonly Probe[]): Promise<void> {
  for (let round = -WARM_UP; round < SAMPLES; round += 1) {
    for (let turn = 0; turn < probes.length; turn += 1) {
      const probe = probes[(turn + round + WARM_UP) % probes.length] as Probe;
      const start = performance.now();
      await probe.ask();
      if (round >= 0) probe.times.push((performance.now() - start) * 1_000);
    }
  }
}

function report(rows: Readonly<Record<string, readonly Probe[]>>): void {
  const lines = Object.entries(rows).map(([sort, probes]) => {
    const [first = 0, second = 0, deep = 0] = probes.map(({ times }) => median(times));
    const ratios = [deep / first, deep / second].map((ratio) => ratio.toFixed(2));
    return [sort, ...[first, second, deep].map((time) => time.toFixed(0)), ...ratios];
  });
  const head = ['sort', 'first µs', 'second µs', 'deep µs', 'deep/first', 'deep/second'];
  for (const line of [head, ...lines]) {
    process.stdout.write(`${line.map((cell) => cell.padStart(12)).join('')}\n`);
  }
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;
}

void main();
