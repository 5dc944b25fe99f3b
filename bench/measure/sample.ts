/** One measurement of one process. */
import { loadWith } from '../load/wrk.js';
import type { ContenderProcess } from './contender-process.js';
import type { Server } from './database.js';

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
  /** Written by `writeRequests`. */
  readonly requests: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Loads, and reads the clocks before and after; a text where requests failed. */
export async function takeSample(
  server: Server,
  { process, requests, connections, seconds }: Volley,
): Promise<Sample | string> {
  const nodeBefore = process.processorTime();
  const postgresBefore = server.processorTime();
  const result = await loadWith({ port: process.port, connections, seconds, requests });
  const node = process.processorTime() - nodeBefore;
  const postgresAfter = server.processorTime();
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
