/** Messages on the terminal. */
import { inspect } from 'node:util';
import { ConfigError } from 'crud-controllers';
import { StartProblem } from '../support/start-problem.js';

/** Writes a line to standard output. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Writes what went wrong to standard error: in a line where the reader can do something, else in full. */
export function complain(error: unknown): void {
  const isKnown = error instanceof StartProblem || error instanceof ConfigError;
  process.stderr.write(`${isKnown ? error.message : inspect(error)}\n`);
}
