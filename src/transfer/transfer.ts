/** Options of the commands `export` and `import` -> a function that sends the file through the application. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { Express } from 'express';
import type { ExportFormat } from '../declare/export-options.js';
import { exportRecords } from './export-records.js';
import { CommandFailure } from './failure.js';
import { importRecords } from './import-records.js';
import { withServer } from './private-server.js';
import { Progress } from './progress.js';
import { type Described, resourceAddress, type TransferName } from './resource-address.js';

const OF_BOTH = `  --header <header>   such as 'Host: shop.example.org'; may come again. Secrets belong into the variable CRUD_HEADERS,
                      one header a line, because the list of processes shows options

The module starts the application, or exports it, as for the command routes. The request goes through its routes, so
that its rules hold: without headers it is that of a stranger. No option passes a rule by. The log of the application
goes to standard error. The exit code is 0 for all, 1 where something is refused or cut, and 2 for a wrong command.
`;

/** The usage of each command, and its options. */
export const TRANSFERS = {
  export: {
    usage: `Usage: crud-controllers export <module> <resource> [options]

Writes all records of a resource, such as cities, to standard output.

  --output <file>     writes a file instead, which is there as soon as it is whole
  --format <format>   csv or ndjson; by default that of the ending of --output, else csv
  --q, --search, --sort, --fields, --include, --deleted <text>
                      as in a request, such as --sort=-population
  --spreadsheet       for programs that execute formulas
  --consistent        all records of one moment
${OF_BOTH}`,
    options: [
      'output',
      'format',
      'q',
      'search',
      'sort',
      'fields',
      'include',
      'deleted',
      'spreadsheet',
      'consistent',
      'header',
    ],
  },
  import: {
    usage: `Usage: crud-controllers import <module> <resource> <file> [options]

Stores the rows of a file, or of standard input where it is -. A file *.gz is sent as it is.

  --format <format>   csv or ndjson; by default that of the ending of the file
  --mode <mode>       create, update or upsert
  --on <names>        the unique key of an upsert, such as code
  --delimiter <sign>  such as ; or tab
  --dry-run           stores nothing, and says what would be refused
  --no-atomic         stores large files in chunks, without the rows that are refused; needs --key
  --key <text>        Idempotency-Key: the same command with the same file goes on, or stores nothing again
${OF_BOTH}`,
    options: ['format', 'mode', 'on', 'delimiter', 'dry-run', 'no-atomic', 'key', 'header'],
  },
} as const;

/** Flags, and the parameters of a request that they are. */
const FLAGS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['spreadsheet', ['spreadsheet', 'true']],
  ['consistent', ['consistent', 'true']],
  ['dry-run', ['dry_run', 'true']],
  ['no-atomic', ['atomic', 'false']],
]);
const NO_PARAMETERS = new Set(['output', 'format', 'header', 'key']);

/** Names of the options. */
export type TransferOption = (typeof TRANSFERS)[TransferName]['options'][number];

/** Options of both, for the parser of arguments. */
export const TRANSFER_OPTIONS = Object.fromEntries(
  [...TRANSFERS.export.options, ...TRANSFERS.import.options].map((name) => [
    name,
    { type: FLAGS.has(name) ? 'boolean' : 'string', multiple: name === 'header' },
  ]),
) as Readonly<Record<TransferOption, { readonly type: 'boolean' | 'string'; readonly multiple: boolean }>>;

/** An application that was started, and the resource of the command line. */
export interface TransferTarget extends Omit<Described, 'mount'> {
  readonly app: Express;
  readonly resource: string;
  readonly stdout: Writable;
}

/** @returns the text that is printed at the end */
export type Transfer = (target: TransferTarget) => Promise<string>;

/**
 * Checks all that can be checked without the application.
 *
 * @param file of an import
 * @throws CommandFailure for options that do not fit
 */
export function prepareTransfer(
  name: TransferName,
  file: string,
  given: ReadonlyMap<string, string>,
  environment: NodeJS.ProcessEnv,
): Transfer {
  const output = given.get('output');
  if (output?.toLowerCase().endsWith('.gz'))
    throw new CommandFailure(
      `--output is '${output}', and export does not compress; leave it out, and pipe into gzip > ${output}.`,
      2,
    );
  const format = formatOf(given.get('format'), name === 'import' ? file : output, name);
  const headers = readHeaders(environment['CRUD_HEADERS'], given.get('header'));
  const key = given.get('key');
  if (given.has('no-atomic') && key === undefined)
    throw new CommandFailure(
      '--no-atomic needs --key=<text>: under it the same command goes on where it was cut.',
      2,
    );
  if (key !== undefined && !/^[\x20-\x7e]{1,255}$/.test(key))
    throw new CommandFailure(`--key is '${key}'; use 1 to 255 signs of ASCII.`, 2);
  if (key !== undefined) headers['Idempotency-Key'] = key;
  const query = new URLSearchParams();
  for (const [option, value] of given)
    if (!NO_PARAMETERS.has(option)) query.set(...(FLAGS.get(option) ?? ([option, value] as const)));
  return ({ app, resource, stdout, ...described }) => {
    const { outermost, mount } = mounted(app);
    const path = resourceAddress({ mount, ...described }, resource, name);
    const progress = new Progress(process.stderr);
    return withServer(outermost, (send) => {
      const common = { send, path, query, format, headers, progress };
      return name === 'export'
        ? exportRecords({ ...common, file: output, stdout })
        : importRecords({ ...common, file });
    });
  };
}

/** The application that others are mounted on has guards that hold for all of them. */
function mounted(app: Express): { readonly outermost: Express; readonly mount: string } {
  let outermost = app;
  let mount = '';
  for (;;) {
    const { parent, mountpath } = outermost as Express & { readonly parent?: Express };
    if (!parent) return { outermost, mount };
    const [path = ''] = [mountpath].flat();
    mount = `${path.replace(/\/$/, '')}${mount}`;
    outermost = parent;
  }
}

function formatOf(format: string | undefined, file: string | undefined, name: TransferName): ExportFormat {
  const ending = /\.(csv|ndjson|jsonl)(?:\.gz)?$/i.exec(file ?? '')?.[1]?.toLowerCase();
  const chosen =
    format ?? (ending === 'jsonl' ? 'ndjson' : ending) ?? (name === 'export' ? 'csv' : undefined);
  if (chosen === 'csv' || chosen === 'ndjson') return chosen;
  throw new CommandFailure(
    chosen === undefined
      ? `'${file}' has no ending that says what it is; add --format=csv or --format=ndjson.`
      : `--format is '${chosen}'; use csv or ndjson.`,
    2,
  );
}

/** Headers that belong to the file or to the connection. */
const OWN_HEADERS =
  /^(?:accept|content-.+|transfer-encoding|connection|expect|idempotency-key|accept-encoding)$/i;

/** Headers of the environment and of options, one a line; an option comes before the environment. @throws CommandFailure for a line that is no header */
function readHeaders(...sources: readonly (string | undefined)[]): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [at, source] of sources.entries()) {
    const origin = at === 0 ? 'CRUD_HEADERS' : '--header';
    for (const line of (source ?? '').split(/\r?\n/).filter((each) => each.trim() !== '')) {
      const [, name = '', value = ''] =
        /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(line.trim()) ?? [];
      // The value may be a secret.
      if (name === '' || value === '')
        throw new CommandFailure(`${origin} has a line that is no header; write 'Name: value' in ASCII.`, 2);
      if (OWN_HEADERS.test(name))
        throw new CommandFailure(`${origin} has ${name}, which the command sets by itself; leave it out.`, 2);
      headers[name.toLowerCase()] = value.trim();
    }
  }
  return headers;
}
