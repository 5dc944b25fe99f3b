/**
 * `npm run clients`: generators make clients of the sample atlas from its document, in empty folders outside of this checkout. Each has to
 * compile strictly, and its program in test/clients has to work against the atlas that runs. Linters read the document, and random
 * answers are held against it. Results of each run are in docs/openapi.md. A tool that cannot be installed is reported, and is no failure.
 * Arguments choose runs: `npm run clients -- orval answers`.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { holdAnswers } from './client-answers.mjs';
import { compile } from './compile.mjs';
import { updateTable } from './result-table.mjs';
import { toolsOf } from './setup-project.mjs';
import { environment } from './setup-run.mjs';
import { CommandFailed, ShellCommand } from './shell-command.mjs';
import { root, StepFailed, step } from './step.mjs';

const CLIENTS = path.join(root, 'test/clients');
/** Files that all programs have in common. */
const PROGRAM = 'program';
const COMMANDS = 'commands.sh';
const DOCUMENT = 'api.json';

const TABLE = {
  page: 'docs/openapi.md',
  command: 'clients',
  head: ['Run', 'Versions', 'Result', 'Date'],
  rule: ['---', '---', '---', '---'],
};

/** Answers that are held against the document. */
const ANSWERS = 2_000;

/** Runs without a folder of commands. */
const OWN = { redocly: lint, answers: ({ url, text }) => holdAnswers(url, JSON.parse(text), ANSWERS) };

export async function clients(names) {
  const tools = readdirSync(CLIENTS).filter((name) => existsSync(path.join(CLIENTS, name, COMMANDS)));
  const known = [...tools, ...Object.keys(OWN)];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) throw new StepFailed(`There is no client ${unknown}. They are: ${known.join(', ')}.`);
  await step('Compile', compile);
  const results = await besideAtlas(async (folder, url) => {
    const text = await (await fetch(new URL('/openapi.json', url))).text();
    const finished = [];
    for (const name of names.length > 0 ? names : known) {
      const run = OWN[name] ?? ((atlas) => tryTool(name, path.join(folder, name), atlas));
      const { isRight, versions, result } = await step(name, () => run({ url, text }));
      const row = [name, versions, result, new Date().toISOString().slice(0, 10)];
      finished.push({ isRight, row });
      updateTable(TABLE, row);
    }
    return finished;
  });
  for (const { row } of results) process.stdout.write(`\n${row.join('  ')}`);
  process.stdout.write('\n');
  if (results.some(({ isRight }) => !isRight)) throw new StepFailed('');
}

/** Types the commands of a tool. The first one installs it. */
async function tryTool(name, folder, { url, text }) {
  mkdirSync(folder);
  for (const source of [PROGRAM, name])
    cpSync(path.join(CLIENTS, source), folder, {
      recursive: true,
      filter: (file) => path.basename(file) !== COMMANDS,
    });
  writeFileSync(path.join(folder, DOCUMENT), text);
  const env = { ...environment([]), ATLAS_URL: url };
  const [install, ...commands] = readFileSync(path.join(CLIENTS, name, COMMANDS), 'utf8')
    .trim()
    .split('\n');
  const fails = (command) => failureOf(new ShellCommand(command, { folder, env }));
  if (await fails(install)) return { isRight: true, versions: 'none', result: 'not installed' };
  const versions = toolsOf(folder).join(', ');
  for (const command of commands)
    if (await fails(command)) return { isRight: false, versions, result: `failed: \`${command}\`` };
  return { isRight: true, versions, result: 'works' };
}

/** Prints why a command has failed. @returns true where it has */
async function failureOf(command) {
  try {
    await command.succeed();
    return false;
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    process.stdout.write(`${error.message}\n`);
    return true;
  }
}

/** The linter of Redocly, with the rules that it recommends. A licence and servers of the world are the owner's to name. */
async function lint({ text }) {
  const { createConfig, lintFromString } = await import('@redocly/openapi-core');
  const config = await createConfig({
    extends: ['recommended'],
    rules: { 'info-license': 'off', 'no-server-example.com': 'off' },
  });
  const found = await lintFromString({ source: text, config });
  for (const { ruleId, message, severity } of found)
    process.stdout.write(`${severity} ${ruleId}: ${message}\n`);
  const { version } = JSON.parse(
    readFileSync(path.join(root, 'node_modules/@redocly/openapi-core/package.json'), 'utf8'),
  );
  const isRight = found.length === 0;
  return {
    isRight,
    versions: `@redocly/openapi-core ${version}`,
    result: isRight ? 'works' : `failed: ${found.length} findings`,
  };
}

/** Runs work beside the atlas, its embedded PostgreSQL and an empty folder, which all end with it. */
async function besideAtlas(work) {
  const { createTemporaryFolder } = await import('../dist/test/support/temporary-folder.js');
  const { AtlasProcess } = await import('../dist/test/support/atlas-process.js');
  // So that all ends that began.
  process.once('SIGINT', () => process.exit(130));
  const folder = await createTemporaryFolder('clients');
  const atlas = new AtlasProcess(path.join(folder.path, 'atlas'));
  try {
    await atlas.untilOpen();
    return await work(folder.path, atlas.urls[0].origin);
  } finally {
    await atlas.end('SIGINT');
    folder.remove();
  }
}
