/** Tables on pages of the guide that commands write: a row for each run, with what came of it. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root, StepFailed } from './step.mjs';

/**
 * Writes the row of a run in place of the one that it had, or at the end.
 *
 * @param table its `page`, the `command` that writes it, and the first two lines as cells: `head` and `rule`
 * @param row its cells, the name of the run first
 */
export function updateTable({ page, command, head, rule }, row) {
  const file = path.join(root, page);
  const text = readFileSync(file, 'utf8');
  const between = new RegExp(
    `(?<=<!-- npm run ${command} writes the table -->\\n)[\\s\\S]*(?=<!-- end of the table -->)`,
  );
  const [table] = between.exec(text) ?? [];
  if (table === undefined) throw new StepFailed(`${page} has no table between its two comments.`);
  const rows = new Map([...rowsOf(table), row].map((cells) => [cells[0], cells]));
  const lines = [head, rule, ...rows.values()].map((cells) => `| ${cells.join(' | ')} |\n`);
  writeFileSync(
    file,
    text.replace(between, () => lines.join('')),
  );
}

function rowsOf(table) {
  const lines = table.split('\n').slice(2);
  return lines.filter(Boolean).map((line) => line.slice(2, -2).split(' | '));
}
