/** The soak by hand; `npm run soak -- --help` lists its options. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RESULTS } from '../../bench/paths.js';
import { revision } from '../../bench/report/machine.js';
import { say } from '../../bench/say.js';
import { StartProblem } from '../../sample/support/start-problem.js';
import { FULL, HELP, readOptions } from './options.js';
import { soakReport } from './report.js';
import { soak } from './soak.js';

/** Milliseconds. */
const LONGEST_FAULT = 3_000;

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options.isHelp) return say(HELP);
  // Started processes end with this one.
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  say(`seed ${options.seed}`);
  const result = await soak({
    ...options,
    seconds: options.minutes * 60,
    pace: 0,
    longest: LONGEST_FAULT,
    say,
  });
  const report = soakReport(result, options, revision());
  say(`\n${report}`);
  if (options.minutes >= FULL) await writeFile(join(RESULTS, 'soak.md'), report);
  if (result.problems.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartProblem ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
});
