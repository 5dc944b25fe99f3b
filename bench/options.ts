/** The command line of the benchmark. */
import { parseArgs } from 'node:util';
import { StartProblem } from '../sample/support/start-problem.js';
import type { Schedule } from './measure/measure.js';
import { ARTICLES, RELATIONS, type Suite } from './suite.js';

/** What is asked for. */
export interface Options {
  readonly kind: 'contenders' | 'scaling' | 'compare' | 'help';
  readonly suite: Suite;
  /** Names of contenders. */
  readonly only: readonly string[];
  /** Names of workloads. */
  readonly work: readonly string[];
  readonly schedule: Schedule;
  /** Whether the figures are none to quote: fewer contenders, workloads or rounds than the real run has. */
  readonly isPartial: boolean;
  readonly isQuick: boolean;
  /** The git revision to compare with. */
  readonly revision: string;
}

/**
 * An odd number of rounds, for medians; slow requests differ by a half from one round to the next. Two seconds, as all
 * clients connect at once: of one second their first requests are almost the hundredth part that p99 tells of.
 */
const FULL: Schedule = { rounds: 5, seconds: 2, warmUp: 1, connections: 64 };
const QUICK: Schedule = { rounds: 1, seconds: 1, warmUp: 1, connections: 64 };

const namesOf = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);

/** Shown by `--help`. */
export const HELP = `npm run bench -- [options]

Without options everything is measured, which takes an hour and a quarter; the results are bench/results/latest.*.

  --quick             one round, to see that everything works; nothing to quote
  --relations         lists with relations, which have contenders and workloads of their own
  --only NAME,NAME    some contenders only:${wrap(namesOf(ARTICLES.contenders))}
                      with --relations:${wrap(namesOf(RELATIONS.contenders))}
  --work NAME,NAME    some workloads only:${wrap(namesOf(ARTICLES.workloads))}
                      with --relations:${wrap(namesOf(RELATIONS.workloads))}
  --rounds N          measured rounds (${FULL.rounds})
  --seconds N         seconds of each measurement (${FULL.seconds})
  --warm-up N         seconds of the same load before each of them (${FULL.warmUp})
  --connections N     concurrent connections (${FULL.connections})
  --compare REV       a git revision of ours against the working tree, in one run
  --scaling           what a request costs as pages, columns, models, tables, depth and connections grow
  --help              this text

BENCH_DATABASE_URL is a PostgreSQL to use instead of one of its own; its processor time is then not measured.
`;

/**
 * Reads the arguments.
 *
 * @throws StartProblem for an option or a name that does not exist, and for a number that is none
 */
export function readOptions(args: readonly string[]): Options {
  const values = parse(args);
  const isQuick = values.quick ?? false;
  const suite = values.relations ? RELATIONS : ARTICLES;
  const contenderNames = namesOf(suite.contenders);
  const workloadNames = namesOf(suite.workloads);
  const schedule = readSchedule(values, isQuick ? QUICK : FULL);
  const only = readNames('--only', values.only, contenderNames);
  const work = readNames('--work', values.work, workloadNames);
  const isShortened = (Object.keys(FULL) as (keyof Schedule)[]).some((name) => schedule[name] !== FULL[name]);
  const kind = values.help ? 'help' : values.scaling ? 'scaling' : values.compare ? 'compare' : 'contenders';
  if (values.scaling && values.compare) throw new StartProblem('Use --scaling or --compare, not both.');
  if (kind === 'scaling' || kind === 'compare') refuseTogether(kind, values);
  return {
    kind,
    suite,
    only,
    work,
    schedule,
    isPartial:
      isShortened || only.length < contenderNames.length || work.length < workloadNames.length || isQuick,
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
        relations: { type: 'boolean' },
        only: { type: 'string' },
        work: { type: 'string' },
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        'warm-up': { type: 'string' },
        connections: { type: 'string' },
        compare: { type: 'string' },
        scaling: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
    return values;
  } catch (error) {
    throw new StartProblem(`${(error as Error).message}\n\n${HELP}`);
  }
}

type Given = ReturnType<typeof parse>;

/** The curves have workloads of their own, and a comparison is of ours only. */
function refuseTogether(kind: 'scaling' | 'compare', given: Given): void {
  if (given.only) throw new StartProblem(`--only does not go with --${kind}.`);
  if (given.relations && kind === 'scaling')
    throw new StartProblem('Use --scaling or --relations, not both.');
  if (given.work && kind === 'scaling') throw new StartProblem('--work does not go with --scaling.');
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

function wrap(names: readonly string[]): string {
  return `\n${' '.repeat(22)}${names
    .join(', ')
    .replace(/(.{1,70})(?:, |$)/g, `$1,\n${' '.repeat(22)}`)
    .trim()
    .replace(/,$/, '')}`;
}
