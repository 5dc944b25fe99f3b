/**
 * Measures contenders against each other: in rounds, in turn, so that what the machine does meets all of them alike. A round
 * has all workloads, so that the rounds of each are spread over the run: a machine is slow for minutes.
 */
import { join } from 'node:path';
import { createTemporaryFolder } from '../../test/support/temporary-folder.js';
import type { Contender } from '../contenders.js';
import { WalkFailed } from '../load/walk.js';
import type { Workload } from '../load/workloads.js';
import { writeRequests } from '../load/wrk.js';
import { type Check, findDifference } from './check-answers.js';
import type { ContenderProcess } from './contender-process.js';
import type { Database } from './database.js';
import type { Sample, Sampler } from './sample.js';

/** Seconds, rounds and connections of the measurements. */
export interface Schedule {
  readonly rounds: number;
  readonly seconds: number;
  /** Seconds of load before each measurement. */
  readonly warmUp: number;
  readonly connections: number;
}

/** A contender that runs. */
export interface Entrant {
  readonly contender: Contender;
  readonly process: ContenderProcess;
  /** The database of the process. */
  readonly database: Database;
}

/** One contender under one workload. */
export interface Row {
  readonly contender: string;
  readonly workload: string;
  readonly samples: readonly Sample[];
  /** Why the samples do not count; null where they do. */
  readonly problem: string | null;
}

/** The means of a run: a server, checks of answers, and a function that reports progress. */
export interface Bench {
  readonly sampler: Sampler;
  readonly schedule: Schedule;
  /** Checks of answers, by name of the workload. */
  readonly checks: Readonly<Record<string, Check<never>>>;
  say(text: string): void;
}

/** Requests in a round below which only their order of magnitude is certain. Another round would not improve that. */
export const SELDOM = 100;

/** A contender that has passed the check of its answers, and its requests. */
interface Turn extends Entrant {
  readonly requests: string;
  readonly samples: Sample[];
  problem: string | null;
}

/** A workload, and the contenders that are measured under it. */
interface Course {
  readonly workload: Workload;
  readonly turns: readonly Turn[];
}

/** Measures all contenders under all workloads. Workloads that only read find the table as it was created. */
export async function measure(
  bench: Bench,
  entrants: readonly Entrant[],
  workloads: readonly Workload[],
): Promise<Row[]> {
  const folder = await createTemporaryFolder('bench-requests');
  try {
    const reading = await measureRounds(bench, entrants, ofKind(workloads, false), folder.path);
    return [...reading, ...(await measureRounds(bench, entrants, ofKind(workloads, true), folder.path))];
  } finally {
    folder.remove();
  }
}

function ofKind(workloads: readonly Workload[], writes: boolean): Workload[] {
  return workloads.filter((workload) => workload.writes === writes);
}

async function measureRounds(
  bench: Bench,
  entrants: readonly Entrant[],
  workloads: readonly Workload[],
  folder: string,
): Promise<Row[]> {
  const courses: Course[] = [];
  for (const workload of workloads) courses.push(await prepareAll(bench, entrants, workload, folder));
  for (let round = 0; round < bench.schedule.rounds; round += 1) {
    for (const { workload, turns } of courses) {
      bench.say(`Round ${round + 1}: ${workload.title}`);
      // Each round has the reverse order of the one before.
      for (const turn of round % 2 === 0 ? turns : [...turns].reverse()) {
        const sample = await takeTurn(bench, workload, turn);
        if (sample) turn.samples.push(sample);
      }
    }
  }
  return courses.flatMap((course) => rowsOf(bench, course));
}

async function prepareAll(
  bench: Bench,
  entrants: readonly Entrant[],
  workload: Workload,
  folder: string,
): Promise<Course> {
  bench.say(`Comparing answers: ${workload.title}`);
  const turns: Turn[] = [];
  for (const entrant of entrants) {
    if (entrant.contender.omits?.includes(workload.name)) continue;
    turns.push(await prepare(bench, entrant, workload, folder));
  }
  return { workload, turns };
}

function rowsOf({ say }: Bench, { workload, turns }: Course): Row[] {
  say(`\n${workload.title}`);
  return turns.map(({ contender: { name, title }, samples, problem }) => {
    say(`  ${title.padEnd(36)}${problem ?? describe(samples)}`);
    return { contender: name, workload: workload.name, samples, problem };
  });
}

/** The answers are compared first; where they differ nothing is measured. */
async function prepare(
  { checks }: Bench,
  entrant: Entrant,
  workload: Workload,
  folder: string,
): Promise<Turn> {
  const { contender, process, database } = entrant;
  const { wire } = contender;
  const requests = join(folder, `${contender.name}-${workload.name}.txt`);
  const { ask } = process;
  const calls = await workload.calls(wire, ask).catch(orMessage);
  if (typeof calls === 'string') return { ...entrant, requests, samples: [], problem: calls };
  const check = checks[workload.name] as Check<unknown>;
  const problem = await findDifference(check, { wire, ask, calls, database });
  if (workload.writes) await database.restore();
  await writeRequests(requests, calls);
  return { ...entrant, requests, samples: [], problem };
}

function orMessage(error: unknown): string {
  if (error instanceof WalkFailed) return error.message;
  throw error;
}

/** Makes one measurement. @returns null where it has no figures; the reason is then in the turn */
async function takeTurn(
  { sampler, schedule }: Bench,
  workload: Workload,
  turn: Turn,
): Promise<Sample | null> {
  if (turn.problem || turn.samples.some(({ rate }) => rate * schedule.seconds < SELDOM)) return null;
  const connections = Math.min(schedule.connections, workload.connections ?? Number.POSITIVE_INFINITY);
  const sample = await sampler.take({ ...turn, ...schedule, connections, writes: workload.writes });
  if (typeof sample !== 'string') return sample;
  turn.problem = sample;
  return null;
}

function describe(samples: readonly Sample[]): string {
  return samples.map(({ rate }) => rate.toFixed(0).padStart(7)).join('');
}
