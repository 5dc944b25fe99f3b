/** The workloads: lists of requests, which the load generator sends in turn, again and again. */
import { DEPTH, randomCategory, randomChanges, randomId, randomValues } from './article.js';
import type { Ask, Call } from './call.js';
import { createRandom, type Random } from './random.js';
import type { Wire } from './wires.js';

/** A kind of load. `W` is the type that writes requests for the API of a contender. */
export interface Workload<W = unknown> {
  /** Name for `--work`. */
  readonly name: string;
  readonly title: string;
  /** True where it changes the table, which is restored afterwards. */
  readonly writes: boolean;
  /** Connections at most, where a server takes fewer of such requests at once. Default: those of the run. */
  readonly connections?: number;
  /** Records that each request writes, where they are several. */
  readonly records?: number;
  /** The name of the workload that the report compares it with, in records a second. */
  readonly beside?: string;
  calls(wire: W, ask: Ask): Promise<readonly Call[]>;
}

export type WorkloadName = (typeof NAMES)[number];

const NAMES = [
  'read',
  'list20',
  'deep20',
  'list100',
  'total20',
  'filter20',
  'create',
  'update',
  'mix',
] as const;

/** Different requests of a workload that chooses rows. */
const VARIETY = 5_000;

/** Numbers among a hundred requests of the mix; the rest reads by id. */
const MIX = { list20: 20, filter20: 10, update: 10, create: 5 };

export const WORKLOADS: readonly Workload<Wire>[] = [
  reading('read', 'Read by id', (wire, random) => wire.read(randomId(random))),
  fixed('list20', 'List 20', (wire) => wire.list(20)),
  // Beside the first page, with which it is compared.
  fixed('deep20', `List 20 at depth ${DEPTH.toLocaleString('en')}`, (wire, ask) =>
    wire.listAfter(DEPTH, 20, ask),
  ),
  fixed('list100', 'List 100', (wire) => wire.list(100)),
  fixed('total20', 'List 20 with total', (wire) => wire.listWithTotal(20)),
  reading('filter20', 'List 20 of a category', (wire, random) =>
    wire.listOfCategory(randomCategory(random), 20),
  ),
  writing('create', 'Create', (wire, random) => wire.create(randomValues(random))),
  writing('update', 'Update', (wire, random) => wire.update(randomId(random), randomChanges(random))),
  writing('mix', 'Mix', mixed),
];

type Choose = (wire: Wire, random: Random) => Call;

function reading(name: WorkloadName, title: string, choose: Choose): Workload<Wire> {
  return { name, title, writes: false, calls: async (wire) => repeat(wire, choose) };
}

function writing(name: WorkloadName, title: string, choose: Choose): Workload<Wire> {
  return { name, title, writes: true, calls: async (wire) => repeat(wire, choose) };
}

/** One request only. */
function fixed(
  name: WorkloadName,
  title: string,
  call: (wire: Wire, ask: Ask) => Call | Promise<Call>,
): Workload<Wire> {
  return { name, title, writes: false, calls: async (wire, ask) => [await call(wire, ask)] };
}

function repeat(wire: Wire, choose: Choose): Call[] {
  const random = createRandom(1);
  return Array.from({ length: VARIETY }, () => choose(wire, random));
}

function mixed(wire: Wire, random: Random): Call {
  const percentile = random() * 100;
  if (percentile < MIX.create) return wire.create(randomValues(random));
  if (percentile < MIX.create + MIX.update) return wire.update(randomId(random), randomChanges(random));
  if (percentile < MIX.create + MIX.update + MIX.filter20) {
    return wire.listOfCategory(randomCategory(random), 20);
  }
  if (percentile < MIX.create + MIX.update + MIX.filter20 + MIX.list20) return wire.list(20);
  return wire.read(randomId(random));
}
