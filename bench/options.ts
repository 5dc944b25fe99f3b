/** The command line of the benchmark. */
import { parseArgs } from 'node:util';
import { StartProblem } from '../sample/support/start-problem.js';
import { VARIED } from './contenders.js';
import type { Schedule } from './measure/measure.js';
import { isVaried, type Platforms } from './platforms.js';
import { ARTICLES, CROWDS, QUERIES, RELATIONS, type Suite, WRITES } from './suite.js';

/** The parsed command line. */
export interface Options {
  readonly kind: 'contenders' | (typeof KINDS)[number];
  readonly suite: Suite;
  /** Names of contenders. */
  readonly only: readonly string[];
  /** Names of workloads. */
  readonly work: readonly string[];
  readonly schedule: Schedule;
  /** True where the figures may not be quoted: fewer contenders, workloads or rounds than in the full run. */
  readonly isPartial: boolean;
  readonly isQuick: boolean;
  /** True where each measurement is made once, however busy the machine is. */
  readonly isOnce: boolean;
  /** The name that a shorter run of contenders has for its results, or ''. */
  readonly as: string;
  /** Platforms beside the Node and PostgreSQL of the machine. */
  readonly platforms: Platforms;
  /** The git revision to compare with. */
  readonly revision: string;
}

/** Two seconds, because all clients connect at once: in one second, their first requests would be almost the hundredth part that p99 measures. */
const FULL = { seconds: 2, warmUp: 1 };
const QUICK = { rounds: 1, seconds: 1, warmUp: 1 };

/** Schedules of full runs that have no contenders: whole exports and imports, processes of each program, and pairs of processes. */
const FULL_OF: Partial<Record<Options['kind'], Partial<Schedule>>> = {
  transfer: { rounds: 3 },
  start: { rounds: 15 },
  memory: { rounds: 3, seconds: 10, warmUp: 3 },
  compare: { rounds: 9, seconds: 1, warmUp: 6 },
};

/** Workloads of a comparison of two revisions, where no others are named: half an hour. */
const COMPARED = ['read', 'list20', 'filter20', 'create', 'update', 'mix'].join();

/** Arguments of files that are shorter runs: `--as NAME` alone measures them again. Arguments behind them replace theirs. */
const KEPT: Readonly<Record<string, string>> = {
  extensions:
    '--only node-http-pipelined,node-http,ours,ours-override,ours-interceptor,ours-read-schema,ours-getter,ours-unit-of-work --work read,list20,create,update --rounds 3',
  neighbours:
    '--only node-http-pipelined,node-http,ours,ours-group-commit,ours-pool-hook,ours-unprepared,ours-traced,ours-rls,ours-tls,ours-two-keys,ours-own-server,ours-general --work read,list20,list100,deep20,filter20,create,update --rounds 3',
  'page-of-20':
    '--only node-http,node-http-scope,ours,ours-override,ours-interceptor,ours-getter,ours-scope,ours-unit-of-work --work list20 --rounds 7',
  platforms: '--node 20,22,24,26 --postgres 14,18 --only node-http,ours --work read,list20,create --rounds 3',
  visibility:
    '--only node-http,ours,ours-channels,ours-metrics,ours-access-log,ours-server-timing,ours-opentelemetry,ours-traced --work read,list20 --rounds 7',
};

const namesOf = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);

/** Shown by `--help`. */
export const HELP = `npm run bench -- [options]

Without options everything is measured, which takes half an hour; the results are bench/results/latest.*.

  --quick             one round, to see that everything works; nothing to quote
  --relations         lists with relations, which have contenders and workloads of their own
  --writes            writes of one record and of many, under conditions and with keys, likewise
  --queries           searches, orders by a relation, and aggregates, likewise
  --crowds            256 and 1,000 clients at once; of ${VARIED.join(', ')} where no others are named
  --only NAME,NAME    some contenders only:${wrap(namesOf(ARTICLES.contenders))}
                      with --relations:${wrap(namesOf(RELATIONS.contenders))}
                      with --writes:${wrap(namesOf(WRITES.contenders))}
                      with --queries:${wrap(namesOf(QUERIES.contenders))}
  --work NAME,NAME    some workloads only:${wrap(namesOf(ARTICLES.workloads))}
                      with --relations:${wrap(namesOf(RELATIONS.workloads))}
                      with --writes:${wrap(namesOf(WRITES.workloads))}
                      with --queries:${wrap(namesOf(QUERIES.workloads))}
                      with --crowds:${wrap(namesOf(CROWDS.workloads))}
  --rounds N          measured rounds (${ARTICLES.rounds}; ${WRITES.rounds} with --writes, --queries and --crowds)
  --seconds N         seconds of each measurement (${FULL.seconds})
  --warm-up N         seconds of the same load before each of them (${FULL.warmUp})
  --once              measures once, however busy the machine is: only processor times say something then
  --connections N     concurrent connections (${ARTICLES.connections}); fewer, where a workload has fewer
  --node N,N          the same on major versions of Node, which it installs; of ${VARIED.join(', ')} where no others are named
  --postgres N,N      likewise on major versions of PostgreSQL
  --processes N,N     likewise in several processes, which share the port
  --as NAME           keeps a shorter run of contenders, as bench/results/NAME.md; alone it measures again one of
                      ${Object.keys(KEPT).join(', ')}
  --compare REV       a git revision of ours against the working tree; nine pairs of processes, in slices of a second in turn
  --transfer          whole exports and imports, beside COPY and unnest
  --feeds             open streams of changes: memory, idle statements, events judged
  --start             from the first line of a program to the answers of ten resources, beside one by hand
  --memory            of a process: at rest, under pages of several sizes, and with 1,000 clients
  --scaling           what a request costs as pages, columns, models, tables, depth and connections grow
  --servers           the part of --scaling about one, two and three servers, and 1 and 16 partitions, alone
  --help              this text

BENCH_DATABASE_URL is a PostgreSQL to use instead of one of its own; its processor time is then not measured.
`;

/**
 * Reads the arguments.
 *
 * @throws StartProblem for an option or a name that does not exist, and for a number that is none
 */
export function readOptions(args: readonly string[]): Options {
  const values = parse([...(KEPT[parse(args).as ?? '']?.split(' ') ?? []), ...args]);
  const isQuick = values.quick ?? false;
  const suite = suiteOf(values);
  const contenderNames = namesOf(suite.contenders);
  const workloadNames = namesOf(suite.workloads);
  const [kind = 'contenders', other] = KINDS.filter((each) => values[each]);
  if (kind !== 'help' && other) throw new StartProblem(`Use --${kind} or --${other}, not both.`);
  if (kind !== 'contenders' && kind !== 'help') refuseTogether(kind, values);
  const { connections } = suite;
  const full: Schedule = { ...FULL, connections, rounds: suite.rounds, ...FULL_OF[kind] };
  const schedule = readSchedule(values, isQuick ? { ...QUICK, connections } : full);
  const platforms = readPlatforms(values);
  const usual = isVaried(platforms) && suite === ARTICLES ? VARIED : (suite.usual ?? contenderNames);
  const only = readNames('--only', values.only ?? usual.join(), contenderNames);
  const compared = kind === 'compare' && suite === ARTICLES ? COMPARED : undefined;
  const work = readNames('--work', values.work ?? compared, workloadNames);
  const isShortened = (Object.keys(full) as (keyof Schedule)[]).some((name) => schedule[name] !== full[name]);
  return {
    kind,
    suite,
    only,
    work,
    schedule,
    platforms,
    isOnce: values.once ?? false,
    as: readName(values.as),
    isPartial:
      isVaried(platforms) ||
      values.once ||
      isShortened ||
      only.length < usual.length ||
      work.length < workloadNames.length ||
      isQuick,
    isQuick,
    revision: values.compare ?? '',
  };
}

function parse(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean' },
        once: { type: 'boolean' },
        relations: { type: 'boolean' },
        writes: { type: 'boolean' },
        queries: { type: 'boolean' },
        crowds: { type: 'boolean' },
        only: { type: 'string' },
        work: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        'warm-up': { type: 'string' },
        connections: { type: 'string' },
        compare: { type: 'string' },
        scaling: { type: 'boolean' },
        servers: { type: 'boolean' },
        transfer: { type: 'boolean' },
        feeds: { type: 'boolean' },
        start: { type: 'boolean' },
        memory: { type: 'boolean' },
        node: { type: 'string' },
        postgres: { type: 'string' },
        processes: { type: 'string' },
        as: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    return values;
  } catch (error) {
    throw new StartProblem(`${(error as Error).message}\n\n${HELP}`);
  }
}

type Given = ReturnType<typeof parse>;

const SUITES = { relations: RELATIONS, writes: WRITES, queries: QUERIES, crowds: CROWDS } as const;

/** Kinds of runs. Of several in a command line, the first of this list counts. */
const KINDS = ['help', 'scaling', 'servers', 'compare', 'transfer', 'feeds', 'start', 'memory'] as const;

function suitesIn(given: Given): (keyof typeof SUITES)[] {
  return (Object.keys(SUITES) as (keyof typeof SUITES)[]).filter((name) => given[name]);
}

function suiteOf(given: Given): Suite {
  const [first, second] = suitesIn(given);
  if (first && second) throw new StartProblem(`Use --${first} or --${second}, not both.`);
  return first ? SUITES[first] : ARTICLES;
}

/** The curves have workloads of their own, and a comparison is of ours only. */
function refuseTogether(kind: Exclude<Options['kind'], 'contenders' | 'help'>, given: Given): void {
  if (given.as) throw new StartProblem(`--as does not go with --${kind}.`);
  if (given.only) throw new StartProblem(`--only does not go with --${kind}.`);
  const [suite] = suitesIn(given);
  if (suite && kind !== 'compare') throw new StartProblem(`Use --${kind} or --${suite}, not both.`);
  if (isVaried(readPlatforms(given)))
    throw new StartProblem(`--node, --postgres and --processes do not go with --${kind}.`);
  if (given.work && kind !== 'compare') throw new StartProblem(`--work does not go with --${kind}.`);
}

function readPlatforms({ node, postgres, processes }: Given): Platforms {
  const read = (option: string, text: string | undefined): string[] => {
    const numbers = text?.split(',') ?? [];
    for (const number of numbers) readNumber(option, number, 0, 1);
    return numbers;
  };
  return {
    node: read('--node', node),
    postgres: read('--postgres', postgres),
    processes: read('--processes', processes).map(Number),
  };
}

function readSchedule(given: Given, defaults: Schedule): Schedule {
  return {
    rounds: readNumber('--rounds', given.rounds, defaults.rounds, 1),
    seconds: readNumber('--seconds', given.seconds, defaults.seconds, 1),
    warmUp: readNumber('--warm-up', given['warm-up'], defaults.warmUp, 0),
    connections: readNumber('--connections', given.connections, defaults.connections, 1),
  };
}

function readNumber(option: string, text: string | undefined, fallback: number, lowest: number): number {
  if (text === undefined) return fallback;
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= lowest) return number;
  throw new StartProblem(`${option} is '${text}'; use an integer from ${lowest} on.`);
}

function readNames(option: string, text: string | undefined, all: readonly string[]): readonly string[] {
  if (text === undefined) return all;
  const names = text.split(',');
  const unknown = names.find((name) => !all.includes(name));
  if (unknown === undefined) return all.filter((name) => names.includes(name));
  throw new StartProblem(`${option} has no '${unknown}'; choose from ${all.join(', ')}.`);
}

function readName(text = ''): string {
  if (/^[a-z\d-]*$/.test(text)) return text;
  throw new StartProblem(`--as is '${text}'; use small letters, digits and hyphens.`);
}

function wrap(names: readonly string[]): string {
  return `\n${' '.repeat(22)}${names
    .join(', ')
    .replace(/(.{1,70})(?:, |$)/g, `$1,\n${' '.repeat(22)}`)
    .trim()
    .replace(/,$/, '')}`;
}
