#!/usr/bin/env node
/** The command `crud-controllers`: begins a project, or prints the OpenAPI document, the routes, or SQL of a module. */
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import type { DescribedApplication } from './bootstrap.js';
import type { GivenOptions } from './load-application.js';
import { initProject } from './scaffold/init-project.js';
import { ConfigError } from './util/config-error.js';
import { didYouMean } from './util/option-problems.js';

const USAGE = `Usage: crud-controllers <command> [options]

Commands:
  init [folder]     writes a project to begin with; the folder is new or empty, by default the current one
  openapi <module>  prints the OpenAPI document
  routes <module>   prints a table of the routes
  sql <module>      prints tables and indexes for your migrations, beside those of the models

Options, for a module that exports models:
  --route-prefix <path>  before every path, such as /api (openapi, routes)
  --title <text>         the name of the API (openapi)

The module starts the application by itself, or exports it, what bootstrap gave, or a function createApp that makes
it. Or it exports the models with @Crud, and controllers that extend generated ones. No database is reached, and
nothing listens.
`;

/** An option as parseArgs found it: `--title=Press` and `--title Press` are the same. */
interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

interface Command {
  /** Kind of the only argument, and its value where it is left out. */
  readonly argument: { readonly kind: 'folder' | 'module'; readonly fallback?: string };
  readonly options: readonly (keyof typeof OPTIONS)[];
  /** Returns the text that is printed. */
  run(argument: string, options: GivenOptions): string | Promise<string>;
}

const OPTIONS = { 'route-prefix': { type: 'string' }, title: { type: 'string' } } as const;

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['init', { argument: { kind: 'folder', fallback: '.' }, options: [], run: initProject }],
  [
    'openapi',
    describing(
      ({ application }) => `${JSON.stringify(application.openapi(), null, 2)}\n`,
      ['route-prefix', 'title'],
    ),
  ],
  ['routes', describing(({ routeTable }) => routeTable(), ['route-prefix'])],
  ['sql', describing(({ sql }) => sql(), [])],
]);

/** A command that prints something of an application. */
function describing(
  print: (described: DescribedApplication) => string,
  options: Command['options'],
): Command {
  return {
    argument: { kind: 'module' },
    options,
    run: async (file, given) => {
      // Whoever begins a project has no peers of this package yet.
      const { loadApplication } = await import('./load-application.js');
      const { write } = process.stdout;
      // The text may go to a file, and the application may log.
      process.stdout.write = process.stderr.write.bind(process.stderr);
      try {
        return print(await loadApplication(file, given));
      } finally {
        process.stdout.write = write;
      }
    },
  };
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--help' || name === '-h') return print(process.stdout, USAGE, 0);
  const command = COMMANDS.get(name ?? '');
  if (!command) {
    const known =
      name === undefined ? '' : `There is no command '${name}'.${didYouMean(name, [...COMMANDS.keys()])}\n`;
    return print(process.stderr, `${known}${USAGE}`, 2);
  }
  const given = readArguments(rest, command, name ?? '');
  if (typeof given === 'string') return print(process.stderr, `${given}\n${USAGE}`, 2);
  const { argument, ...options } = given;
  return print(process.stdout, await command.run(argument, options), 0);
}

/** The argument and the options, or what is wrong with them. */
function readArguments(
  args: readonly string[],
  { argument: { kind, fallback }, options }: Command,
  name: string,
): (GivenOptions & { readonly argument: string }) | string {
  // Not strict: what Node says of an unknown option suggests none.
  const { positionals, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const problem = optionProblem(token, options, name);
    if (problem) return problem;
    given.set(token.name, token.value ?? '');
  }
  const [argument = fallback, ...others] = positionals;
  if (argument === undefined || others.length > 0) return `Name one ${kind}.`;
  return { argument, routePrefix: given.get('route-prefix'), title: given.get('title') };
}

/** Problem of an option, in a sentence. All options take a value. */
function optionProblem(
  { name, rawName, value, inlineValue }: OptionToken,
  options: Command['options'],
  command: string,
): string | undefined {
  if (!options.some((option) => option === name))
    return `${command} has no option ${rawName}.${didYouMean(name, options)}`;
  // The next option is not the value of this one.
  if (value === undefined || value === '' || (!inlineValue && value.startsWith('-')))
    return `${rawName} needs a value: ${rawName}=<value>.`;
  return undefined;
}

/** The exit code, when all is written: a pipe takes what it can, and the process may not end before. */
function print(stream: NodeJS.WriteStream, text: string, exitCode: number): Promise<number> {
  return new Promise((resolve) => {
    // The reader of the pipe may have read enough.
    stream.once('error', () => resolve(exitCode));
    stream.write(text, () => resolve(exitCode));
  });
}

/** A module that cannot be loaded says where; of a wrong configuration, every problem is a line. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `${error.problems.join('\n')}\n`;
  return `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}

main(process.argv.slice(2))
  .catch((error: unknown) => print(process.stderr, explain(error), 1))
  // The module may have begun to listen, or hold connections.
  .then((exitCode) => process.exit(exitCode));
