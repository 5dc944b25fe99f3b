/** `npm start`, `npm test` and `npm run` with `combinations`, `soak` or `bench`: each does the set-up that a fresh clone needs, then its work. */
import process from 'node:process';
import { bench } from './bench.mjs';
import { combinations } from './combinations.mjs';
import { setUp } from './set-up.mjs';
import { soak } from './soak.mjs';
import { start } from './start.mjs';
import { StepFailed } from './step.mjs';
import { test } from './test.mjs';

const commands = { start, test, combinations, soak, bench };

const command = commands[process.argv[2]];
if (!command) {
  process.stderr.write(`Usage: node scripts/run.mjs ${Object.keys(commands).join('|')}\n`);
  process.exit(2);
}

try {
  await setUp();
  await command(process.argv.slice(3));
} catch (error) {
  if (!(error instanceof StepFailed)) throw error;
  if (error.message) process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
