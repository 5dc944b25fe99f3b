/** One run of `npm run setups`: the commands of a setup are typed, and the last one has to print the lines of docs/setups.md. */
import path from 'node:path';
import process from 'node:process';
import { install } from './edge-checkout.mjs';
import { createSetup, toolsOf } from './setup-project.mjs';
import { CommandFailed, ShellCommand } from './shell-command.mjs';
import { StepFailed } from './step.mjs';

const PAGE = 'docs/setups.md';
const REQUESTS = 'run against the program of each setup by npm run setups';
const REFUSAL = 'printed by the program of tsx without types, with npm run setups';

/** Variables of this package's npm, which a command would take for its own. */
const NOT_THEIRS = /^npm_(?:package|lifecycle|command|config_local_prefix)/i;

/** @returns what came of it as `text`, the `versions` that it had, and whether it `isRight` */
export async function tryRun(run, folder, tarball) {
  const found = { versions: 'none' };
  try {
    await typeCommands(run, folder, tarball, found);
    return { ...found, isRight: true, text: run.isRefused ? 'refused' : 'works' };
  } catch (error) {
    // npm has said itself why a tool cannot be installed.
    if (!(error instanceof CommandFailed || error instanceof StepFailed)) throw error;
    process.stdout.write(`${error.message}\n`);
    const command = error.command?.replace(tarball, 'crud-controllers') ?? 'npm install';
    return { ...found, isRight: false, text: `failed: \`${command}\`` };
  }
}

async function typeCommands({ tools = [], isRefused, ...run }, folder, tarball, found) {
  const { freshDatabase } = await import('../dist/test/support/postgres.js');
  const { findFreePort } = await import('../dist/sample/support/free-port.js');
  const bins = [];
  for (const tool of tools) bins.push(path.join(await install(tool, [tool]), '.bin'));
  const database = await freshDatabase('setup');
  const port = await findFreePort();
  const env = { ...environment(bins), DATABASE_URL: database.url, PORT: String(port) };
  const type = (command) => new ShellCommand(command, { folder, env });
  const { commands, isTest } = createSetup(folder, tarball, run);
  for (const command of commands.slice(0, -1)) await type(command).succeed();
  found.versions = await versionsOf(folder, tools, type);
  const last = type(commands.at(-1));
  if (isRefused) await last.fail(await refusal());
  else if (isTest) await last.succeed();
  else await sendRequests(last, port);
  await database.drop();
}

/** Sends the requests of the page to a program that listens. */
async function sendRequests(program, port) {
  const { answersAsWritten, consoleExamples, readmeBlocks, runCurl } = await import(
    '../dist/test/support/readme-examples.js'
  );
  try {
    await program.print('Listening on ');
    for (const { command, output } of readmeBlocks(REQUESTS, PAGE).flatMap(consoleExamples)) {
      const answer = await runCurl(command, `http://localhost:${port}`);
      if (!answersAsWritten(answer, output)) throw new CommandFailed({ text: command, output: answer });
    }
  } finally {
    await program.stop();
  }
}

/** The refusal in the lines of the page. */
async function refusal() {
  const { readmeBlocks } = await import('../dist/test/support/readme-examples.js');
  return readmeBlocks(REFUSAL, PAGE).flatMap((block) => block.trim().split('\n'));
}

async function versionsOf(folder, tools, type) {
  const versions = [];
  for (const program of new Set(['node', ...tools.map((tool) => tool.replace(/@.*$/, ''))])) {
    const printed = await type(`${program} --version`).succeed();
    const lines = printed.trim().split('\n');
    // Lines before the last one are warnings. Deno prints its own version first, and others behind.
    const line = lines.find((each) => each.startsWith(`${program} `))?.split(' ')[1] ?? lines.at(-1);
    versions.push(`${program} ${line.replace(/^v/, '')}`);
  }
  return [...versions, ...toolsOf(folder)].join(', ');
}

/** The environment of commands that are typed: nothing of this package, and these programs first. */
export function environment(bins) {
  const entries = Object.entries(process.env).filter(([name]) => !NOT_THEIRS.test(name));
  return { ...Object.fromEntries(entries), PATH: [...bins, process.env.PATH].join(path.delimiter) };
}
