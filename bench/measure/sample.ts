/** One measurement of one process. */
import { setTimeout as sleep } from 'node:timers/promises';
import { loadWith } from '../load/wrk.js';
import type { ContenderProcess } from './contender-process.js';
import type { Database, Server } from './database.js';

/** Figures of a measurement. Latencies are in milliseconds, processor times in microseconds for each request. */
export interface Sample {
  /** Requests per second. */
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly node: number;
  readonly postgres: number | null;
}

/** What to send, and how. */
export interface Volley {
  readonly process: ContenderProcess;
  /** What the process uses. */
  readonly database: Database;
  /** Written by `writeRequests`. */
  readonly requests: string;
  readonly connections: number;
  readonly seconds: number;
  /** Seconds of load that are not measured. */
  readonly warmUp: number;
}

/** Milliseconds in which a process at rest does nothing that can be measured. */
const REST = 50;
/** Microseconds; /proc does not tell less. */
const LEAST_TIME = 10_000;

/** Loads, and reads the clocks before and after; a text where requests failed. Afterwards everything is at rest. */
export async function takeSample(
  server: Server,
  { process, database, requests, connections, seconds, warmUp }: Volley,
): Promise<Sample | string> {
  const load = { port: process.port, connections, requests };
  // While others were measured, pools have closed connections and V8 has given back its young generation.
  if (warmUp > 0) {
    await loadWith({ ...load, seconds: warmUp });
    await untilAtRest(process, database);
  }
  const nodeBefore = process.processorTime();
  const postgresBefore = server.processorTime();
  const result = await loadWith({ ...load, seconds });
  const node = process.processorTime() - nodeBefore;
  const postgresAfter = server.processorTime();
  await untilAtRest(process, database);
  const { requests: count, microseconds, p50, p99, refused, broken } = result;
  if (count === 0) return `no request finished within ${seconds} s`;
  if (refused > 0 || broken > 0) {
    return `${refused} answers above 399 and ${broken} broken connections among ${count} requests`;
  }
  const isLocal = postgresBefore !== null && postgresAfter !== null;
  return {
    rate: count / (microseconds / 1e6),
    p50: p50 / 1_000,
    p99: p99 / 1_000,
    node: node / count,
    postgres: isLocal ? (postgresAfter - postgresBefore) / count : null,
  };
}

/** What the load left unfinished may not be paid by whoever comes next. */
async function untilAtRest(process: ContenderProcess, database: Database): Promise<void> {
  for (let used = LEAST_TIME + 1; used > LEAST_TIME; ) {
    await database.untilQuiet();
    const before = process.processorTime();
    await sleep(REST);
    used = process.processorTime() - before;
  }
}
