/** The benchmark; `npm run bench -- --help` prints its options. */
import { StartProblem } from '../sample/support/start-problem.js';
import { runCompare } from './compare.js';
import { runFeeds } from './feeds/run-feeds.js';
import { provideWrk } from './load/wrk.js';
import { runMemory } from './memory/run-memory.js';
import { HELP, type Options, readOptions } from './options.js';
import { runContenders } from './run-contenders.js';
import { say } from './say.js';
import { runScaling } from './scaling/run-scaling.js';
import { runServers } from './scaling/run-servers.js';
import { runStart } from './start/run-start.js';
import { ARTICLES } from './suite.js';
import { runTransfer } from './transfer/run-transfer.js';

async function main(command: readonly string[]): Promise<void> {
  const options = readOptions(command);
  if (options.kind === 'help') return say(HELP);
  checkSystem();
  provideWrk();
  stopOnSignals();
  if (!(await work(options, command))) process.exitCode = 1;
}

async function work(options: Options, command: readonly string[]): Promise<boolean> {
  switch (options.kind) {
    case 'scaling': {
      const counts = await runScaling(options, command);
      return (await runServers(options, command)) && counts;
    }
    case 'servers':
      return runServers(options, command);
    case 'transfer':
      return runTransfer(options, command);
    case 'feeds':
      return runFeeds(options, command);
    case 'start':
      return runStart(options, command);
    case 'memory':
      return runMemory(options, command);
    case 'compare':
      return runCompare(options, command);
    default:
      return runContenders(options, command);
  }
}

function checkSystem(): void {
  if (process.platform === 'linux') return;
  throw new StartProblem('The benchmark reads processor times from /proc, which only Linux has.');
}

/** Processes that were started end with this one. */
function stopOnSignals(): void {
  // Each of them waits for it; Node would take that many for a mistake.
  process.setMaxListeners(ARTICLES.contenders.length + 10);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof StartProblem ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
});
