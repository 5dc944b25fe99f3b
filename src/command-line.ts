#!/usr/bin/env node
/** The command `crud-controllers`: prints the OpenAPI document, the routes, or SQL for migrations, of a module. */
import 'reflect-metadata';
import type { DescribedApplication } from './bootstrap.js';
import { loadApplication } from './load-application.js';
import { ConfigError } from './util/config-error.js';
import { didYouMean } from './util/did-you-mean.js';

const USAGE = `Usage: crud-controllers <command> <module>

Commands:
  openapi  prints the OpenAPI document
  routes   prints a table of the routes
  sql      prints tables and indexes for your migrations, beside those of the models

The module exports the models with @Crud, and controllers that extend generated ones; no database is needed for
these. Or it exports the Express application that it bootstraps, or what bootstrap gave.
`;

const COMMANDS: ReadonlyMap<string, (described: DescribedApplication) => string> = new Map([
  ['openapi', ({ application }) => `${JSON.stringify(application.openapi(), null, 2)}\n`],
  ['routes', ({ routeTable }) => routeTable()],
  ['sql', ({ sql }) => sql()],
]);

async function main(args: readonly string[]): Promise<number> {
  const [name, file, ...others] = args;
  if (name === '--help' || name === '-h') return print(process.stdout, USAGE, 0);
  const command = COMMANDS.get(name ?? '');
  if (!command) {
    const known =
      name === undefined ? '' : `There is no command '${name}'.${didYouMean(name, [...COMMANDS.keys()])}\n`;
    return print(process.stderr, `${known}${USAGE}`, 2);
  }
  if (file === undefined || others.length > 0) return print(process.stderr, `Name one module.\n${USAGE}`, 2);
  return print(process.stdout, command(await loadApplication(file)), 0);
}

/** The exit code, when all is written: a pipe takes what it can, and the process may not end before. */
function print(stream: NodeJS.WriteStream, text: string, exitCode: number): Promise<number> {
  return new Promise((resolve) => {
    // Who reads the pipe may have read enough.
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
