#!/usr/bin/env node
/** The command `crud-controllers`: begins a project, writes models of a database, prints the OpenAPI document, the routes, or SQL of a module, or exports and imports records. */
import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import type { DescribedApplication } from './bootstrap.js';
import type { GivenOptions } from './load-application.js';
import { initProject } from './scaffold/init-project.js';
import { CommandFailure, printable } from './transfer/failure.js';
import type { TransferName } from './transfer/resource-address.js';
import { prepareTransfer, TRANSFER_OPTIONS, TRANSFERS } from './transfer/transfer.js';
import { ConfigError } from './util/config-error.js';
import { didYouMean } from './util/option-problems.js';

const USAGE = `Usage: crud-controllers <command> [options]

Commands:
  init [folder]     writes a project to begin with; the folder is new or empty, by default the current one
  models [address]  writes models of the tables of a database, such as postgres://user@host/shop, and keeps your edits
  openapi <module>  prints the OpenAPI document
  routes <module>   prints a table of the routes
  sql <module>      prints tables, triggers and indexes for your migrations, beside those of the models
  export <module> <resource>         writes all records of a resource as a file; see export --help
  import <module> <resource> <file>  stores the rows of a file; see import --help
  maintain <module> makes partitions, and removes stored changes that are older than their retention; once a day

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
nothing listens. Only export, import and maintain reach one.
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
  ...TRANSFER_OPTIONS,
} as const;

type OptionName = keyof typeof OPTIONS;

/** Values of the options of a command line; that of a flag is empty. */
type Given = ReadonlyMap<string, string>;

/** A text that is printed, and the exit code. */
interface Printed {
  readonly text: string;
  readonly exitCode: number;
}

/** Kind of an argument, and its value where it is left out. */
interface Argument {
  readonly kind: 'address' | 'folder' | 'module' | 'resource' | 'file';
  fallback?(): string | undefined;
  /** Another way to set the option, as the end of a sentence. */
  readonly otherwise?: string;
}

interface Command {
  readonly arguments: readonly Argument[];
  /** Default: that of all commands. */
  readonly usage?: string;
  readonly options: readonly OptionName[];
  /** Options that exclude each other. */
  readonly rivals?: readonly (readonly [OptionName, OptionName])[];
  /** Returns the text that is printed. */
  run(args: readonly string[], given: Given): string | Promise<string | Printed>;
}

/** Options that choose tables, and their names. */
const OF_TABLES = ['schema', 'tables', 'names'] as const;

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  [
    'init',
    {
      arguments: [{ kind: 'folder', fallback: () => '.' }],
      options: ['from', ...OF_TABLES],
      run: beginProject,
    },
  ],
  [
    'models',
    {
      arguments: [{ kind: 'address', fallback: addressOfFile, otherwise: ', or set DATABASE_URL' }],
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
  ['maintain', { arguments: [{ kind: 'module' }], options: [], run: maintain }],
  ['export', transferring('export', [])],
  ['import', transferring('import', [{ kind: 'file' }])],
]);

/** Writes a project, with `from` one of the tables of a database. */
async function beginProject([folder = '.']: readonly string[], given: Given): Promise<string> {
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

async function printModels([url = '']: readonly string[], given: Given): Promise<Printed> {
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
    arguments: [{ kind: 'module' }],
    options,
    run: async ([file = ''], options) => {
      // A new project has no peers of this package yet, so the module that needs them is loaded late.
      const { loadApplication } = await import('./load-application.js');
      const given: GivenOptions = { routePrefix: options.get('route-prefix'), title: options.get('title') };
      return withStandardOutput(async () => print(await loadApplication(file, given)));
    },
  };
}

/** Maintains the tables of an application, with its database. */
async function maintain([file = '']: readonly string[]): Promise<string> {
  const { startApplication } = await import('./load-application.js');
  return withStandardOutput(async () => {
    const lines = await (await startApplication(file)).maintain();
    return lines.map((line) => `${line}\n`).join('');
  });
}

/** A command that sends a file through the routes of an application, with its database. */
function transferring(name: TransferName, more: readonly Argument[]): Command {
  return {
    arguments: [{ kind: 'module' }, { kind: 'resource' }, ...more],
    options: TRANSFERS[name].options,
    usage: TRANSFERS[name].usage,
    run: async ([file = '', resource = '', source = ''], given) => {
      const transfer = prepareTransfer(name, source, given, process.env);
      endAtSignals();
      const { startApplication } = await import('./load-application.js');
      return withStandardOutput(async (stdout) => {
        const { app, application } = await startApplication(file);
        const described = { routes: application.routes, document: application.openapi() };
        return transfer({ app, ...described, resource, stdout });
      });
    },
  };
}

/** Standard output may be a file, and the application may log: its log goes to standard error. */
async function withStandardOutput<T>(work: (stdout: Writable) => Promise<T>): Promise<T> {
  const { stdout, stderr } = process;
  const { write } = stdout;
  // The write that fails says it as well.
  stdout.on('error', () => {});
  stdout.write = ((...given: Parameters<typeof write>) => {
    // A bar may be on the line.
    if (stderr.isTTY) stderr.write('\r\x1b[K');
    return stderr.write(...given);
  }) as typeof write;
  try {
    return await work(
      new Writable({ write: (chunk, _encoding, done) => void write.call(stdout, chunk, undefined, done) }),
    );
  } finally {
    Object.assign(stdout, { write });
  }
}

/** A file that is not whole goes with the process. */
function endAtSignals(): void {
  const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
  for (const [signal, code] of Object.entries(codes))
    process.once(signal, () => {
      process.stderr.write(`\nInterrupted by ${signal}.\n`);
      process.exit(code);
    });
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  const command = COMMANDS.get(name ?? '');
  const { usage = USAGE } = command ?? {};
  if (args.includes('--help') || args.includes('-h')) return print(process.stdout, usage, 0);
  if (!command) {
    const known =
      name === undefined ? '' : `There is no command '${name}'.${didYouMean(name, [...COMMANDS.keys()])}\n`;
    return print(process.stderr, `${known}${USAGE}`, 2);
  }
  const read = readArguments(rest, command, name ?? '');
  if (typeof read === 'string') return print(process.stderr, `${read}\n${usage}`, 2);
  const printed = await command.run(read.positionals, read.given);
  const { text, exitCode } = typeof printed === 'string' ? { text: printed, exitCode: 0 } : printed;
  return print(process.stdout, text, exitCode);
}

/** The arguments and the options, or their problems. */
function readArguments(
  args: readonly string[],
  { arguments: expected, options, rivals = [] }: Command,
  name: string,
): { readonly positionals: readonly string[]; readonly given: Given } | string {
  // Not strict: Node's message about an unknown option has no suggestion.
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
    const earlier = given.get(token.name);
    const isRepeated = earlier !== undefined && token.name !== 'header';
    const problem = isRepeated ? `${token.rawName} comes twice.` : optionProblem(token, options, name);
    if (problem) return problem;
    // No header has an end of a line.
    given.set(token.name, earlier === undefined ? (token.value ?? '') : `${earlier}\n${token.value}`);
  }
  const both = rivals.find((pair) => pair.every((each) => given.has(each)));
  if (both) return `--${both[0]} and --${both[1]} exclude each other.`;
  const found = expected.map(({ fallback }, at) => positionals[at] ?? fallback?.());
  if (found.includes(undefined) || positionals.length > expected.length) {
    const kinds = expected.map(({ kind, otherwise = '' }) => `one ${kind}${otherwise}`);
    return `Name ${kinds.join(', ')}.`;
  }
  return { positionals: found as string[], given };
}

/** True for `--from` without a value: the next option is none. */
function isFromAlone(arg: string, next: string | undefined): boolean {
  return arg === '--from' && (next === undefined || next.startsWith('-'));
}

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
  const isNext = !inlineValue && (option === 'sort' ? /^--|^-.$/ : /^-/).test(value ?? '');
  if (value === undefined || value === '' || isNext) return `${rawName} needs a value: ${rawName}=<value>.`;
  return undefined;
}

/** The exit code, when all is written: a pipe takes a part at a time, and the process may not end before. */
function print(stream: NodeJS.WriteStream, text: string, exitCode: number): Promise<number> {
  return new Promise((resolve) => {
    // The reader of the pipe may have read enough.
    stream.once('error', () => resolve(exitCode));
    stream.write(text, () => resolve(exitCode));
  });
}

/** A module that cannot be loaded says where; of a wrong configuration, every problem is a line. Names of a database may have signs for terminals. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `${printable(error.problems.join('\n'))}\n`;
  if (error instanceof CommandFailure) return error.message && `${printable(error.message)}\n`;
  return `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}

main(process.argv.slice(2))
  .catch((error: unknown) =>
    print(process.stderr, explain(error), error instanceof CommandFailure ? error.exitCode : 1),
  )
  // The module may have begun to listen, or hold connections.
  .then((exitCode) => process.exit(exitCode));
