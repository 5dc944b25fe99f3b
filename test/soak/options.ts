/** The command line of the soak. */
import { parseArgs } from 'node:util';
import { StartProblem } from '../../sample/support/start-problem.js';

/** Options of the command line. */
export interface Options {
  readonly minutes: number;
  readonly seed: number;
  readonly isHelp: boolean;
}

/** Minutes. The results of a shorter run are not kept. */
export const FULL = 10;

/** Shown by `--help`. */
export const HELP = `npm run soak -- [options]

Mixed load on an application while everything around it fails. A run of ${FULL} minutes or more writes bench/results/soak.md.

  --minutes N   how long (${FULL})
  --seed N      which faults and requests come, in which order (any); an odd one has group commit
  --help        this text
`;

/**
 * Reads the arguments.
 *
 * @throws StartProblem for an option that does not exist, and for a number that is none
 */
export function readOptions(args: readonly string[]): Options {
  const { minutes, seed, help = false } = parse(args);
  return {
    minutes: readNumber('--minutes', minutes, FULL),
    seed: readNumber('--seed', seed, Date.now() % 1_000_000),
    isHelp: help,
  };
}

function parse(args: readonly string[]) {
  try {
    const options = {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    throw new StartProblem(`${(cause as Error).message}\n\n${HELP}`, { cause });
  }
}

function readNumber(name: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (given !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new StartProblem(`${name} is ${given}; use a number that is not negative.`);
}
