/** The command `models`: the tables of a database -> files of models, and a report for people. */
import { readFileSync } from 'node:fs';
import { ConfigError } from '../util/config-error.js';
import { counted } from '../util/with-article.js';
import { type FolderReport, type WriteOptions, writePlan } from './model-folder.js';
import type { LeftOut } from './model-plan.js';
import { planModels } from './plan-models.js';
import { readDatabase } from './read-database.js';

/** Options of `writeModels`. */
export interface ModelsOptions extends Omit<WriteOptions, 'isWhole'> {
  /** The address of the database. */
  readonly url: string;
  /** Default: all but those of the system. */
  readonly schemas?: readonly string[] | undefined;
  /** Patterns such as `order*` and `!*_old`. Default: all tables. */
  readonly tables?: readonly string[] | undefined;
  /** Path of the file of names. */
  readonly names?: string | undefined;
}

/** The work on the files, and the same as lines. */
export interface ModelsReport extends FolderReport {
  readonly text: string;
}

/**
 * Reads the tables of a database, and writes their models. No row of a table is read.
 *
 * @throws ConfigError where the database, the file of names or a file of a model is not as it should be; then nothing is written
 */
export async function writeModels(options: ModelsOptions): Promise<ModelsReport> {
  const { url, schemas, tables, names, onProgress } = options;
  const choices = names === undefined ? {} : { names: readNames(names) };
  onProgress?.('Reading the tables');
  const schema = await readDatabase(url, { schemas, tables });
  onProgress?.(`${schema.tables.length} tables read`);
  const plan = planModels(schema, choices);
  try {
    const report = writePlan(plan, { ...options, isWhole: !schemas && !tables });
    return { ...report, text: `${linesOf(report, options).join('\n')}\n` };
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      throw new ConfigError([`The files of the models cannot be written: ${error.message}.`]);
    throw error;
  }
}

function readNames(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError([
      `The file of names '${file}' cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
}

function linesOf(report: FolderReport, { out, check = false }: ModelsOptions): string[] {
  const { models, relations, created, changed, unchanged, differences, leftOut, warnings, hints } = report;
  const counts = `${counted(models, 'model')} with ${counted(relations, 'relation')}`;
  const isSame = created.length + changed.length === 0;
  const files = `${counted(created.length, 'file')} new, ${changed.length} changed, ${unchanged.length} as they were`;
  const checked = isSame ? 'as the database has them' : `out of date; run the command without --check`;
  return [
    ...differences,
    `${out}: ${counts}, ${check ? checked : files}.`,
    ...section('Left out', linesOfLeftOut(leftOut)),
    ...section('Warnings', warnings),
    ...section('Proposals', hints),
  ];
}

/** A line for each construct; ids that are missing for one reason share a line. */
function linesOfLeftOut(leftOut: readonly LeftOut[]): string[] {
  const names = new Map<string, string[]>();
  for (const { construct, reason } of leftOut) {
    const [, name] = /^id of (.*)$/s.exec(construct) ?? [];
    const key = name === undefined ? `${construct}: ${reason}` : reason;
    names.set(key, [...(names.get(key) ?? []), ...(name === undefined ? [] : [name])]);
  }
  return [...names].map(([line, ids]) => (ids.length > 0 ? `id of ${ids.join(', ')}: ${line}` : line));
}

/** Names of a database may hold signs that a terminal takes for commands. */
function section(title: string, lines: readonly string[]): string[] {
  const shown = lines.map((line) => `  ${line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')}`);
  return lines.length === 0 ? [] : ['', `${title}:`, ...shown];
}
