/** The table of docs/compatibility.md: what the runs of `npm run matrix` gave, a row for each run. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, StepFailed } from './step.mjs';

const FILE = path.join(root, 'docs/compatibility.md');
const HEAD = ['Run', 'Versions', 'Passed', 'Failed', 'Skipped', 'Date', 'Revision'];
const RULE = ['---', '---', '--:', '--:', '--:', '---', '---'];

/** Between these lines. */
const TABLE = /(?<=<!-- npm run matrix writes the table -->\n)[\s\S]*(?=<!-- end of the table -->)/;

/** Writes the row of a run in place of the one that it had, or at the end. */
export function updateTable(row) {
  const page = readFileSync(FILE, 'utf8');
  const [table] = TABLE.exec(page) ?? [];
  if (table === undefined) throw new StepFailed(`${FILE} has no table between its two comments.`);
  const rows = new Map([...rowsOf(table), row].map((cells) => [cells[0], cells]));
  const lines = [HEAD, RULE, ...rows.values()].map((cells) => `| ${cells.join(' | ')} |\n`);
  writeFileSync(
    FILE,
    page.replace(TABLE, () => lines.join('')),
  );
}

function rowsOf(table) {
  const lines = table.split('\n').slice(2);
  return lines.filter(Boolean).map((line) => line.slice(2, -2).split(' | '));
}
