/**
 * `npm run combinations`: all tests over HTTP in each combination of the two decisions, on Express 5 and 4, one after the other.
 * A failure does not end it; a table at the end shows all. Arguments are the names of the combinations that are wanted.
 */
import process from 'node:process';
import { compile } from './compile.mjs';
import { EXPRESS_4, mocha, noCounts, OVER_HTTP, printFailures, tagged, without } from './mocha.mjs';
import { StepFailed, step } from './step.mjs';

export async function combinations(names) {
  await step('Compile', compile);
  const known = await combinationNames();
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new StepFailed(`There is no combination ${unknown}. They are: ${known.join(', ')}.`);
  const rows = [];
  for (const name of names.length > 0 ? names : known) {
    for (const express of [5, 4]) rows.push(await runWhole(name, express));
  }
  for (const counts of rows) printFailures(counts);
  process.stdout.write(`\n${table(rows)}\n`);
  if (rows.some(({ isRight }) => !isRight)) throw new StepFailed('');
}

/** Names of the combinations, which a compiled file has. */
async function combinationNames() {
  const { COMBINATIONS } = await import('../dist/test/support/combinations.js');
  return Object.keys(COMBINATIONS);
}

async function runWhole(name, express) {
  const counts = noCounts();
  const files = [OVER_HTTP, ...without(await tagged('once'))];
  const env = { CRUD_TEST_PATH: name, ...(express === 4 ? EXPRESS_4 : {}) };
  const started = performance.now();
  let isRight = true;
  try {
    await step(`${name} on Express ${express}`, () => mocha(counts, files, { env }));
  } catch (error) {
    if (!(error instanceof StepFailed) || error.isInterrupted) throw error;
    isRight = false;
  }
  return { name, express, ...counts, isRight, seconds: Math.round((performance.now() - started) / 1000) };
}

function table(rows) {
  const cells = rows.map(({ name, express, passed, failed, skipped, seconds }) =>
    [name, express, passed, failed, skipped, `${seconds} s`].map(String),
  );
  const lines = [['combination', 'Express', 'passed', 'failed', 'skipped', 'time'], ...cells];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const aligned = (cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]));
  return lines.map((line) => line.map(aligned).join('  ')).join('\n');
}
