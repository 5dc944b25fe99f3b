/** Measures the memory of a process: at rest, under pages of several sizes, and with 1,000 clients. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillStatements, ROWS } from '../load/article.js';
import { loadWith, writeRequests } from '../load/wrk.js';
import { ContenderProcess } from '../measure/contender-process.js';
import { startServer } from '../measure/database.js';
import type { Options } from '../options.js';
import { describeMachine } from '../report/machine.js';
import { definitions, table } from '../report/markdown.js';
import { spreadOf, writeSpread } from '../report/statistics.js';
import { say } from '../say.js';
import { writeResults } from '../write-results.js';

/** A process of its own in each round. */
interface Case {
  readonly title: string;
  /** Of requests in turn; none is a process at rest. */
  readonly paths: readonly string[];
  readonly connections: number;
  /** Flags of Node. */
  readonly flags: readonly string[];
}

/** The id is that of another row in each request. */
const READ = '/articles/1888888';
const CLIENTS = 64;
const CROWD = 1_000;
/** A larger young generation, which grows in larger steps. */
const YOUNG = ['--max-semi-space-size=32', '--semi-space-growth-factor=4'];

const CASES: readonly Case[] = [
  { title: 'at rest after the start', paths: [], connections: 0, flags: [] },
  {
    title: 'reads and pages of 20',
    paths: [READ, '/articles?size=20'],
    connections: CLIENTS,
    flags: [],
  },
  {
    title: `reads and pages of 20 with ${YOUNG.join(' ')}`,
    paths: [READ, '/articles?size=20'],
    connections: CLIENTS,
    flags: YOUNG,
  },
  { title: 'pages of 100', paths: ['/articles?size=100'], connections: CLIENTS, flags: [] },
  { title: 'pages of 1,000', paths: ['/articles?size=1000'], connections: CLIENTS, flags: [] },
  { title: 'reads of 1,000 clients', paths: [READ], connections: CROWD, flags: [] },
  {
    title: `reads of 1,000 clients with ${YOUNG.join(' ')}`,
    paths: [READ],
    connections: CROWD,
    flags: YOUNG,
  },
];

interface Figures {
  /** Bytes of resident memory at most. */
  readonly memory: number;
  /** Of a second. */
  readonly requests: number;
  /** Microseconds of Node for a request. */
  readonly node: number;
}

/** Measures, and writes the results. */
export async function runMemory(options: Options, command: readonly string[]): Promise<boolean> {
  const { rounds } = options.schedule;
  await using server = await startServer();
  const database = await server.create(fillStatements(ROWS), ROWS);
  const cases = CASES.map((each) => ({ ...each, rounds: [] as Figures[] }));
  for (let round = 0; round < rounds; round += 1)
    for (const each of cases) each.rounds.push(await measure(each, database.url, options));
  const rows = cases.map(({ title, paths, rounds: measured }) => {
    const cell = (name: keyof Figures, digits: number, unit = 1) =>
      writeSpread(spreadOf(measured.map((figures) => figures[name] / unit)), digits);
    const isAtRest = paths.length === 0;
    return [
      title,
      cell('memory', 0, 1e6),
      ...(isAtRest ? ['–', '–'] : [cell('requests', 0), cell('node', 1)]),
    ];
  });
  for (const row of rows) say(row.join('  '));
  const machine = describeMachine(process.versions.node, await database.version(), command);
  const text = `Two models of ten columns, records of 315 bytes and ${CLIENTS} clients, where no others are named. Rounds: ${rounds}, each process anew. Medians, in parentheses the lowest and the highest round.`;
  const md = `# Memory of a process\n\n${definitions(machine)}\n\n${text}\n\n## Memory\n\n${table(
    ['a process', 'at most, MB', 'requests/s', 'Node µs'],
    rows,
  )}\n`;
  await writeResults(options.isPartial ? 'partial-memory' : 'memory', { md });
  return true;
}

async function measure(
  { paths, connections, flags }: Case,
  databaseUrl: string,
  { schedule: { seconds, warmUp } }: Options,
): Promise<Figures> {
  await using ours = await ContenderProcess.startOurs(join(__dirname, '../contenders'), {
    databaseUrl,
    flags,
  });
  if (paths.length === 0) return { memory: ours.memory(), requests: 0, node: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'bench-memory-'));
  try {
    const requests = join(folder, 'requests');
    await writeRequests(
      requests,
      paths.map((path) => ({ method: 'GET', path })),
    );
    const load = { port: ours.port, connections, requests };
    await loadWith({ ...load, seconds: warmUp, isWarmUp: true });
    const before = ours.processorTime();
    const result = await loadWith({ ...load, seconds, isWarmUp: false });
    if (result.refused + result.broken > 0)
      throw new Error(`${result.refused} requests for ${paths} were refused, and ${result.broken} broken.`);
    return {
      memory: ours.peakMemory(),
      requests: (result.requests / result.microseconds) * 1e6,
      node: (ours.processorTime() - before) / result.requests,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}
