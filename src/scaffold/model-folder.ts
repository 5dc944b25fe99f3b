/** The folder with the files of models: a plan -> files, where the code of people stays. */

import { isUtf8 } from 'node:buffer';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { throwProblems } from '../util/config-error.js';
import { textOf } from './code-text.js';
import { importLines, withImports } from './import-code.js';
import { lineDifference } from './line-difference.js';
import { type ModelCode, modelCode } from './model-code.js';
import type { DatabaseTable, LeftOut, ModelsPlan } from './model-plan.js';
import { keyOf } from './name-choices.js';
import { pascalCase, wordsOf } from './names.js';
import { findRegion, isSame, markRegion, type Region, type RegionName } from './region.js';

/** Options of `writePlan`. */
export interface WriteOptions {
  /** The folder. It is made where it is missing. */
  readonly out: string;
  /** True where clients may write tables. Default: false. */
  readonly writable?: boolean;
  /** True where nothing is written, and the report has all that would be. */
  readonly check?: boolean;
  /** True where regions that people have edited are generated again. */
  readonly force?: boolean;
  /** True where the plan has all tables of the database, so that the table of a file that is not in it was dropped. */
  readonly isWhole?: boolean;
  readonly onProgress?: ((line: string) => void) | undefined;
}

/** The work on the files. Names are those in the folder, in alphabetical order. */
export interface FolderReport {
  readonly models: number;
  readonly relations: number;
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** Lines about the changes of a check: files, and their lines that go and come. */
  readonly differences: readonly string[];
  readonly warnings: readonly string[];
  readonly leftOut: readonly LeftOut[];
  readonly hints: readonly string[];
}

/** A file as it is, and as it is to be. */
interface Draft {
  readonly file: string;
  readonly before: string | null;
  readonly after: string;
}

const INDEX = 'index.ts';

/**
 * Writes the files of a plan into a folder: all of them, or none where one cannot be written.
 *
 * @throws ConfigError for files without marks, and for edited regions, with the lines that differ
 */
export function writePlan(plan: ModelsPlan, options: WriteOptions): FolderReport {
  const { out, writable = false, check = false, isWhole = true, onProgress } = options;
  const models = new Map(plan.models.map((model) => [model.className, model]));
  const codes = plan.models.map((model) => modelCode(model, { models, isWritable: writable }));
  const folder = new ModelFolder(out);
  const problems: string[] = [];
  if (existsSync(out) && !statSync(out).isDirectory()) throwProblems([`'${out}' is a file; name a folder.`]);
  const drafts = codes.map((code) => draftOf(targetOf(code), folder, options, problems));
  const leftOver = folder.others(codes);
  problems.push(...leftOver.flatMap((each) => movedProblem(each, codes, out)));
  drafts.push(draftOf(indexOf([...codes, ...leftOver]), folder, options, problems));
  throwProblems(problems);
  const changed = drafts.filter(({ before, after }) => before !== after);
  if (!check)
    changed.forEach((draft, at) => {
      folder.write(draft);
      onProgress?.(`${at + 1} of ${changed.length} files written`);
    });
  const namesOf = (some: readonly Draft[]) => some.map(({ file }) => file).sort();
  return {
    models: codes.length,
    relations: plan.models.reduce((sum, { relations }) => sum + relations.length, 0),
    created: namesOf(changed.filter(({ before }) => before === null)),
    changed: namesOf(changed.filter(({ before }) => before !== null)),
    unchanged: namesOf(drafts.filter(({ before, after }) => before === after)),
    differences: check ? changed.flatMap(differenceOf) : [],
    warnings: isWhole ? leftOver.map(({ file }) => `${file}: ${DROPPED}`) : [],
    leftOut: [
      ...plan.leftOut,
      ...codes.flatMap(({ className, unserved }) =>
        unserved === null ? [] : [{ construct: `routes of ${className}`, reason: unserved }],
      ),
    ],
    hints: plan.hints,
  };
}

const DROPPED =
  'no table of the database has this model any more. The file stays as it is, and index.ts exports it; delete the file where nobody needs it.';

function differenceOf({ file, before, after }: Draft): string[] {
  if (before === null) return [`${file} is missing.`];
  return [`${file} is out of date:`, ...lineDifference(before, after)];
}

interface ModelFile {
  readonly className: string;
  readonly file: string;
  /** Table of its `@Table`, as `schema.table`; null where it has not both names. */
  readonly table: string | null;
}

/** A table whose model would be written into another file: two models would have it, and one of them would be out of date. */
function movedProblem(
  { className, file, table }: ModelFile,
  codes: readonly ModelCode[],
  out: string,
): string[] {
  const owner = codes.find((code) => keyOf(code.table) === table);
  if (table === null || !owner) return [];
  const names = JSON.stringify({ [table]: { class: className } });
  return [
    `${join(out, file)} has the table ${table}, whose class would be ${owner.className} now; write ${names} into the file of --names, or delete the file.`,
  ];
}

/** @throws TypeError where the decorator of the file has another table than the region would have */
function checkTable(text: string, className: string, table: DatabaseTable): void {
  const found = tableIn(text);
  const own = keyOf(table);
  if (found === null || found === own) return;
  const other = `${pascalCase(wordsOf(table.schema)) || 'Other'}${className}`;
  const names = JSON.stringify({ [found]: { class: className }, [own]: { class: other } });
  throw new TypeError(
    `has the table ${found} in @Table, and ${own} would be its class ${className}; correct @Table where the table was renamed, or choose classes in the file of --names, such as ${names}.`,
  );
}

/** The table that `@Table` names, as `schema.table`. */
function tableIn(text: string): string | null {
  const [, decorator = ''] = /^@Table\(([\s\S]*?)^export class /m.exec(text) ?? [];
  const [schema, name] = ['schema', 'tableName'].map((member) => {
    const [, literal] =
      new RegExp(`\\b${member}:\\s*('(?:[^'\\\\\n]|\\\\.)*'|"(?:[^"\\\\\n]|\\\\.)*")`).exec(decorator) ?? [];
    return literal && textOf(literal);
  });
  return schema && name ? `${schema}.${name}` : null;
}

/** The folder of the files. Texts have plain line feeds here. */
class ModelFolder {
  constructor(private readonly path: string) {}

  /** @throws TypeError where a file is none in UTF-8 */
  read(file: string): string | null {
    const path = join(this.path, file);
    if (!existsSync(path)) return null;
    const bytes = readFileSync(path);
    const text = bytes.toString();
    if (!isUtf8(bytes)) throw new TypeError('is no text in UTF-8.');
    return hasReturns(text) ? text.replaceAll('\r\n', '\n') : text;
  }

  /** Puts the file in its place at once, so that no process reads a half of it. */
  write({ file, before, after }: Draft): void {
    mkdirSync(this.path, { recursive: true });
    const path = join(this.path, file);
    const target = before === null ? path : realpathSync(path);
    const isWindows = before !== null && hasReturns(readFileSync(target, 'utf8'));
    const temporary = `${target}.${process.pid}.tmp`;
    try {
      const mode = before === null ? {} : { mode: statSync(target).mode };
      writeFileSync(temporary, isWindows ? after.replaceAll('\n', '\r\n') : after, { flag: 'wx', ...mode });
      renameSync(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** Models of earlier runs that are in none of these files. */
  others(codes: readonly ModelCode[]): ModelFile[] {
    const files = new Set(codes.map(({ file }) => file).concat(INDEX));
    const classes = new Set(codes.map(({ className }) => className));
    if (!existsSync(this.path)) return [];
    return readdirSync(this.path)
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !files.has(file))
      .filter((file) => statSync(join(this.path, file), { throwIfNoEntry: false })?.isFile())
      .sort()
      .flatMap((file) => {
        const text = readFileSync(join(this.path, file), 'utf8');
        const [, className] = /^export class (\w+) extends /m.exec(text) ?? [];
        const isOurs = /^[ \t]*\/\/ <columns digest=/m.test(text);
        if (!className || !isOurs || classes.has(className)) return [];
        classes.add(className);
        return [{ className, file, table: tableIn(text) }];
      });
  }
}

function hasReturns(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}

/** A region as it is to be; null where the file needs none. */
interface Wanted {
  readonly name: RegionName;
  readonly content: string | null;
}

/** A file as it is to be. */
interface Target {
  readonly file: string;
  /** The text of a new one. */
  readonly whole: string;
  readonly regions: readonly Wanted[];
  /** The class that others import. */
  readonly className?: string;
  /** Completes a text around its regions. @param replaced their content before */
  complete?(text: string, replaced: string): string;
}

function targetOf({ file, whole, className, table, enums, columns, imports }: ModelCode): Target {
  const regions = [
    { name: 'enums', content: enums },
    { name: 'columns', content: columns },
  ] as const;
  return {
    file,
    whole,
    className,
    regions,
    complete: (text, replaced) => {
      checkTable(text, className, table);
      return withImports(text, imports, replaced);
    },
  };
}

function draftOf(
  target: Target,
  folder: ModelFolder,
  { out, force }: WriteOptions,
  problems: string[],
): Draft {
  const { file, whole, regions, className, complete } = target;
  const path = join(out, file);
  try {
    const before = folder.read(file);
    if (before === null) return { file, before, after: whole };
    const edited: string[] = [];
    let text = before;
    let replaced = '';
    for (const { name, content } of regions) {
      const region = findRegion(name, text);
      if (!region && name !== 'enums') throw new TypeError(noMarks(name));
      if (region && isUntouched(name, region, content)) continue;
      if (region?.isEdited && !force && !(content !== null && isSame(name, region.content, content)))
        edited.push(...lineDifference(region.content, content ?? ''));
      replaced += `${region?.content ?? ''}\n`;
      text = withRegion(text, name, region, content);
    }
    if (className !== undefined && !new RegExp(`\\bclass ${className}\\b`).test(before))
      throw new TypeError(
        `has no class ${className}, which index.ts and other models import; give the class another name in the file of --names.`,
      );
    if (edited.length > 0)
      problems.push(`${path} was edited between its marks: ${EDITED}\n${edited.join('\n')}`);
    return { file, before, after: complete?.(text, replaced) ?? text };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    problems.push(`${path} ${error.message}`);
    return { file, before: null, after: whole };
  }
}

function noMarks(name: RegionName): string {
  return `has no marks // <${name} digest=…> and // </${name}>, so that it is a file of yours; move it, or name another folder by --out.`;
}

const EDITED =
  'move what is yours above the decorators or below the mark, or generate it again by --force. The file has the lines with -, and the database those with +:';

function isUntouched(name: RegionName, region: Region, content: string | null): boolean {
  return content !== null && !region.isEdited && isSame(name, region.content, content);
}

function withRegion(text: string, name: RegionName, region: Region | null, content: string | null): string {
  if (region) {
    const own = content === null ? '' : markRegion(name, content, region.indent);
    const behind = text.slice(region.end);
    return text.slice(0, region.start) + own + (content === null ? behind.replace(/^\n{1,2}/, '') : behind);
  }
  if (content === null) return text;
  const [, own] =
    [...content.matchAll(/^export const (\w+)/gm)].find(([, each]) =>
      new RegExp(`\\bconst ${each}\\b`).test(text),
    ) ?? [];
  if (own !== undefined)
    throw new TypeError(
      `has ${own} without the marks // <${name} digest=…> and // </${name}>; take it out, and the command writes it again.`,
    );
  // Enums that were not there before: above the class, with its decorators and its comment.
  const imports = [...text.matchAll(/(?<=^|\n)import\b[^;'"]*(['"])[^'"\n]+\1[^\S\n]*;?\n/g)].at(-1);
  const place = imports ? imports.index + imports[0].length : 0;
  return `${text.slice(0, place)}\n${markRegion(name, content, '')}\n${text.slice(place)}`;
}

/** The file that exports all models. */
function indexOf(files: readonly Pick<ModelFile, 'className' | 'file'>[]): Target {
  const sorted = [...files].sort((one, other) => (one.className < other.className ? -1 : 1));
  const imports = sorted.map(({ className, file }) => ({
    name: className,
    from: `./${file.replace(/\.ts$/, '.js')}`,
    isType: false,
  }));
  const list = (names: readonly string[]) => names.map((name) => `  ${name},\n`).join('');
  const names = sorted.map(({ className }) => className);
  const content = [
    // A class may have any name with a capital.
    "import type * as crud from 'crud-controllers';",
    ...importLines(imports),
    '',
    '/** All of them, for `engineLifespan`. */',
    `export const models: readonly crud.ModelClass[] = [\n${list(names)}];`,
    '',
    `export {\n${list(names)}};`,
  ].join('\n');
  const whole = `/** The models of the database. What is between the marks is generated again, and the rest is yours. */\n${markRegion('models', content, '')}\n`;
  return { file: INDEX, whole, regions: [{ name: 'models', content }] };
}
