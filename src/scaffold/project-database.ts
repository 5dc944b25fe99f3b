/** The database of a new project: its models, its address in `.env`, and the command that writes the models again. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A database whose tables become the models of a project. */
export interface ProjectDatabase {
  /** Percent-encoded, with the password. */
  readonly url: string;
  readonly schemas?: readonly string[] | undefined;
  /** Patterns, as the command `models` has them. */
  readonly tables?: readonly string[] | undefined;
  /** Path of a file of names. */
  readonly names?: string | undefined;
  readonly onProgress?: (line: string) => void;
}

/** Name of the file of names in a project. */
const NAMES = 'names.json';

/**
 * Writes the models of a project. The tables are read before the first file is written.
 *
 * @returns the report
 * @throws ConfigError where the tables cannot be read, or no table can
 */
export async function writeProjectModels(database: ProjectDatabase, folder: string): Promise<string> {
  // A project without a database needs no pg.
  const { writeModels } = await import('./model-files.js');
  const { text } = await writeModels({ ...database, out: join(folder, 'src/models') });
  if (database.names !== undefined) copyFileSync(database.names, join(folder, NAMES));
  return `${text}\n`;
}

/** Writes the address for the owner of the file alone. */
export function writeAddress({ url }: ProjectDatabase, target: string): void {
  writeFileSync(join(target, '.env'), `DATABASE_URL=${plainValue(url)}\n`, { flag: 'wx', mode: 0o600 });
}

/** Signs that a reader of `.env` could take for the end of the value, or for a variable. */
const SIGNS = /[\s'"`\\$#]/g;

/** The address with such signs percent-encoded, so that it needs no quotation marks: Docker would take them for a part of it. */
function plainValue(url: string): string {
  return url.replace(SIGNS, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);
}

/** The script that writes the models again, with the same choice of tables. */
export function modelsScript({ schemas, tables, names }: ProjectDatabase): string {
  const options = [
    ...(schemas ? ['--schema', quoted(schemas.join(','))] : []),
    ...(tables ? ['--tables', quoted(tables.join(','))] : []),
    ...(names === undefined ? [] : ['--names', NAMES]),
  ];
  return ['crud-controllers models', ...options].join(' ');
}

/** An argument for the shells of npm: sh, and cmd on Windows. */
function quoted(text: string): string {
  return /^[\w.,-]+$/.test(text) ? text : `"${text.replace(/["$`\\]/g, '\\$&')}"`;
}
