#!/usr/bin/env node
/** The command `crud-controllers`: begins a project, writes models of a database, or prints the OpenAPI document, the routes, or SQL of a module. */
import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { DescribedApplication } from './bootstrap.js';
import type { GivenOptions } from './load-application.js';
import { initProject } from './scaffold/init-project.js';
import { ConfigError } from './util/config-error.js';
import { didYouMean } from './util/option-problems.js';

const USAGE = `Usage: crud-controllers <command> [options]

Commands:
  init [folder]     writes a project to begin with; the folder is new or empty, by default the current one
  models [address]  writes models of the tables of a database, such as postgres://user@host/shop, and keeps your edits
  openapi <module>  prints the OpenAPI document
  routes <module>   prints a table of the routes
  sql <module>      prints tables and indexes for your migrations, beside those of the models

Options of init, for a project with models of the tables of a database:
  --from <address>    such as postgres://user@host/shop; --from alone takes DATABASE_URL
  --schema, --tables and --names as models has them

Options of models; without an address it takes DATABASE_URL, which keeps a password out of the history of the shell,
or else that of the file .env in the current folder:
  --out <folder>      by default src/models
  --schema <names>    such as sales,hr; by default all schemas but those of the system
  --tables <patterns> such as 'order*,!*_old'; by default all tables
  --names <file>      JSON with names of classes, attributes and relations
  --read-only         new models can be listed and read; the default
  --writable          clients may write the tables of new models
  --check             writes nothing, and exits with 1 where the models are not those of the database
  --force             generates again what somebody has edited between the marks

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

/** Options of all commands: `boolean` is a flag, and all others have a value. */
const OPTIONS = {
  from: { type: 'string' },
  'route-prefix': { type: 'string' },
  title: { type: 'string' },
  out: { type: 'string' },
  schema: { type: 'string' },
  tables: { type: 'string' },
  names: { type: 'string' },
  'read-only': { type: 'boolean' },
  writable: { type: 'boolean' },
  check: { type: 'boolean' },
  force: { type: 'boolean' },
} as const;

type OptionName = keyof typeof OPTIONS;

/** Values of the options that were given; that of a flag is empty. */
type Given = ReadonlyMap<string, string>;

/** A text that is printed, and the exit code. */
interface Printed {
  readonly text: string;
  readonly exitCode: number;
}

interface Command {
  /** Kind of the only argument, and its value where it is left out. */
  readonly argument: {
    readonly kind: 'address' | 'folder' | 'module';
    fallback?(): string | undefined;
    /** Another way to say it, as the end of a sentence. */
    readonly otherwise?: string;
  };
  readonly options: readonly OptionName[];
  /** Options that exclude each other. */
  readonly rivals?: readonly (readonly [OptionName, OptionName])[];
  /** Returns the text that is printed. */
  run(argument: string, given: Given): string | Promise<string | Printed>;
}

/** Options that choose tables, and their names. */
const OF_TABLES = ['schema', 'tables', 'names'] as const;

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'init',
    {
      argument: { kind: 'folder', fallback: () => '.' },
      options: ['from', ...OF_TABLES],
      run: beginProject,
    },
  ],
  [
    'models',
    {
      argument: {
        kind: 'address',
        fallback: addressOfFile,
        otherwise: ', or set DATABASE_URL',
      },
      options: ['out', ...OF_TABLES, 'read-only', 'writable', 'check', 'force'],
      rivals: [
        ['read-only', 'writable'],
        ['check', 'force'],
      ],
      run: printModels,
    },
  ],
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

/** Writes a project, with `from` one of the tables of a database. */
async function beginProject(folder: string, given: Given): Promise<string> {
  // The message has no part of it: an address may hold a password.
  if (/^postgres(?:ql)?:/i.test(folder))
    throw new ConfigError(['The folder is an address; write init <folder> --from=<address>.']);
  const from = given.get('from');
  if (from === undefined) {
    const stray = OF_TABLES.find((each) => given.has(each));
    if (stray)
      throw new ConfigError([`--${stray} is for the tables of a database; name it by --from=<address>.`]);
    return initProject(folder);
  }
  const url = from || process.env['DATABASE_URL'];
  if (!url)
    throw new ConfigError(['--from has no address, and DATABASE_URL is not set; write --from=<address>.']);
  return withProgress((onProgress) => initProject(folder, { url, ...tablesOf(given), onProgress }));
}

/** The address in the environment, or else that of a project of `init --from`. */
function addressOfFile(): string | undefined {
  if (process.env['DATABASE_URL'] === undefined && existsSync('.env')) process.loadEnvFile();
  return process.env['DATABASE_URL'] || undefined;
}

function tablesOf(given: Given) {
  return {
    schemas: listOf(given.get('schema')),
    tables: listOf(given.get('tables')),
    names: given.get('names'),
  };
}

function listOf(text: string | undefined): readonly string[] | undefined {
  return text?.split(',').map((each) => each.trim());
}

/** Shows a line of progress where a person is watching. */
async function withProgress<T>(work: (show: (line: string) => void) => Promise<T>): Promise<T> {
  const { stderr } = process;
  const show = (line: string): void => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${line}`);
  };
  try {
    return await work(show);
  } finally {
    show('');
  }
}

/** Writes the models of a database. */
async function printModels(url: string, given: Given): Promise<Printed> {
  const { writeModels } = await import('./scaffold/model-files.js');
  const check = given.has('check');
  const { text, differences } = await withProgress((onProgress) =>
    writeModels({
      url,
      out: given.get('out') ?? 'src/models',
      ...tablesOf(given),
      writable: given.has('writable'),
      check,
      force: given.has('force'),
      onProgress,
    }),
  );
  return { text, exitCode: differences.length > 0 ? 1 : 0 };
}

/** A command that prints something of an application. */
function describing(
  print: (described: DescribedApplication) => string,
  options: Command['options'],
): Command {
  return {
    argument: { kind: 'module' },
    options,
    run: async (file, options) => {
      // Whoever begins a project has no peers of this package yet.
      const { loadApplication } = await import('./load-application.js');
      const given: GivenOptions = { routePrefix: options.get('route-prefix'), title: options.get('title') };
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
  if (args.includes('--help') || args.includes('-h')) return print(process.stdout, USAGE, 0);
  const command = COMMANDS.get(name ?? '');
  if (!command) {
    const known =
      name === undefined ? '' : `There is no command '${name}'.${didYouMean(name, [...COMMANDS.keys()])}\n`;
    return print(process.stderr, `${known}${USAGE}`, 2);
  }
  const read = readArguments(rest, command, name ?? '');
  if (typeof read === 'string') return print(process.stderr, `${read}\n${USAGE}`, 2);
  const printed = await command.run(read.argument, read.given);
  const { text, exitCode } = typeof printed === 'string' ? { text: printed, exitCode: 0 } : printed;
  return print(process.stdout, text, exitCode);
}

/** The argument and the options, or what is wrong with them. */
function readArguments(
  args: readonly string[],
  { argument: { kind, fallback, otherwise = '' }, options, rivals = [] }: Command,
  name: string,
): { readonly argument: string; readonly given: Given } | string {
  // Not strict: what Node says of an unknown option suggests none.
  const { positionals, tokens } = parseArgs({
    args: args.map((arg, at) => (isFromAlone(arg, args[at + 1]) ? `${arg}=` : arg)),
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Map<string, string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const problem = given.has(token.name)
      ? `${token.rawName} comes twice.`
      : optionProblem(token, options, name);
    if (problem) return problem;
    given.set(token.name, token.value ?? '');
  }
  const both = rivals.find((pair) => pair.every((each) => given.has(each)));
  if (both) return `--${both[0]} and --${both[1]} exclude each other.`;
  const [argument = fallback?.(), ...others] = positionals;
  if (argument === undefined || others.length > 0) return `Name one ${kind}${otherwise}.`;
  return { argument, given };
}

/** True for `--from` without a value: the next option is none. */
function isFromAlone(arg: string, next: string | undefined): boolean {
  return arg === '--from' && (next === undefined || next.startsWith('-'));
}

/** Problem of an option, in a sentence. */
function optionProblem(
  { name, rawName, value, inlineValue }: OptionToken,
  options: readonly OptionName[],
  command: string,
): string | undefined {
  const option = options.find((each) => each === name);
  if (!option) return `${command} has no option ${rawName}.${didYouMean(name, options)}`;
  if (OPTIONS[option].type === 'boolean')
    return value === undefined ? undefined : `${rawName} takes no value.`;
  if (option === 'from') return undefined;
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

/** A module that cannot be loaded says where; of a wrong configuration, every problem is a line. Names of a database may have signs for terminals. */
function explain(error: unknown): string {
  if (error instanceof ConfigError)
    return `${error.problems.join('\n').replaceAll(/(?![\n\t])\p{Cc}/gu, ' ')}\n`;
  return `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}

main(process.argv.slice(2))
  .catch((error: unknown) => print(process.stderr, explain(error), 1))
  // The module may have begun to listen, or hold connections.
  .then((exitCode) => process.exit(exitCode));
