/** `npm start`, `npm test` and `npm run` with `admin`, `combinations`, `matrix`, `setups`, `clients`, `mutation`, `soak`, `existing`, `tracers`, `bench`, `figures`, `promises` or `docs`: each does the set-up that a fresh clone needs, then its work. */
import process from 'node:process';
import { admin } from './admin.mjs';
import { bench } from './bench.mjs';
import { clients } from './clients.mjs';
import { combinations } from './combinations.mjs';
import { docs } from './docs.mjs';
import { existing } from './existing.mjs';
import { figures } from './figures.mjs';
import { matrix } from './matrix.mjs';
import { mutation } from './mutation.mjs';
import { promises } from './promises.mjs';
import { setUp } from './set-up.mjs';
import { setups } from './setups.mjs';
import { soak } from './soak.mjs';
import { start } from './start.mjs';
import { StepFailed } from './step.mjs';
import { test } from './test.mjs';
import { tracers } from './tracers.mjs';

const commands = {
  start,
  test,
  admin,
  combinations,
  matrix,
  setups,
  clients,
  mutation,
  soak,
  existing,
  tracers,
  bench,
  figures,
  promises,
  docs,
};

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
