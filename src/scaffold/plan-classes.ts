/** Tables -> classes, files and paths, each with a name of its own. */
import { Utils } from 'sequelize';
import { kebabCase } from '../compile/compile-options.js';
import { groupBy } from '../util/memo.js';
import type { DatabaseTable } from './model-plan.js';
import { keyOf, type NameChoices } from './name-choices.js';
import type { NameProblems } from './name-problems.js';
import { capital, fileCase, isTakenClass, pascalCase, singular, withLast, wordsOf } from './names.js';

/** Names of a model. */
export interface ClassNames {
  readonly className: string;
  /** Name of the file without its ending. */
  readonly fileName: string;
  /** Where the default would be the path of another model, or of the documentation. */
  readonly prefix: string | null;
}

/** Names that Windows has no files of. */
const NO_FILES = /^(?:con|prn|aux|nul|com\d|lpt\d|index)$/;
/** First segments of paths that an application has besides those of models. */
const OTHER_PATHS = ['/docs', '/health', '/metrics'];

/** Names of all tables. Where several would be the same, those outside of `public` have the schema in front. */
export function planClasses(
  tables: readonly DatabaseTable[],
  choices: NameChoices,
  problems: NameProblems,
): ReadonlyMap<DatabaseTable, ClassNames> {
  const classes = new Map(tables.map((table) => [table, choices[keyOf(table)]?.class ?? plainName(table)]));
  for (const same of grouped(tables, (table) => fileCase(classes.get(table) ?? ''))) {
    const isOfOne = new Set(same.map(({ schema }) => schema)).size === 1;
    const renamed = same.filter(
      (table) => !isOfOne && table.schema !== 'public' && choices[keyOf(table)]?.class === undefined,
    );
    for (const table of renamed) classes.set(table, withSchema(table));
  }
  const taken = [...classes.values()];
  for (const same of grouped(tables, (table) => fileCase(classes.get(table) ?? '')))
    problems.add(
      `${same.map(keyOf).join(' and ')} would ${same.length > 2 ? 'all' : 'both'} be the class ${classes.get(same[0] as DatabaseTable)}.`,
      same.slice(1).map((table) => {
        const name = otherName(table, taken);
        taken.push(name);
        return { table: keyOf(table), class: name };
      }),
    );
  return withPaths(tables, classes);
}

function grouped(
  tables: readonly DatabaseTable[],
  nameOf: (table: DatabaseTable) => string,
): DatabaseTable[][] {
  return [...groupBy(tables, nameOf).values()].filter((same) => same.length > 1);
}

function plainName({ name }: DatabaseTable): string {
  const words = wordsOf(name);
  const found = words.length > 0 ? pascalCase(withLast(words, singular)) : codedName(name);
  return isTakenClass(found) ? `${found}Row` : found;
}

/** A name of letters that have no sound in ASCII, by their numbers: the same whatever tables come later. */
function codedName(name: string): string {
  const codes = [...name].map((sign) => (sign.codePointAt(0) ?? 0).toString(16));
  return `Table${codes.join('').slice(0, 40)}`;
}

function withSchema(table: DatabaseTable): string {
  const words = wordsOf(table.schema);
  const schema = words.length > 0 ? pascalCase(words) : codedName(table.schema).replace('Table', 'Schema');
  return `${schema}${plainName(table)}`;
}

/** A proposal: the words as they are, or with a number. */
function otherName(table: DatabaseTable, taken: readonly string[]): string {
  const files = new Set(taken.map(fileCase));
  const whole = capital(pascalCase(wordsOf(table.name))) || plainName(table);
  if (!files.has(fileCase(whole)) && !isTakenClass(whole)) return whole;
  let count = 2;
  while (files.has(fileCase(`${plainName(table)}${count}`))) count += 1;
  return `${plainName(table)}${count}`;
}

function withPaths(
  tables: readonly DatabaseTable[],
  classes: ReadonlyMap<DatabaseTable, string>,
): ReadonlyMap<DatabaseTable, ClassNames> {
  const paths = new Set(OTHER_PATHS);
  const names = new Map<DatabaseTable, ClassNames>();
  for (const table of tables) {
    const className = classes.get(table) ?? '';
    const file = fileCase(className);
    const path = `/${kebabCase(Utils.pluralize(className))}`;
    const own = [path, `/${file}`, `/${file}-rows`, `/${fileCase(withSchema(table))}-rows`].find(
      (each) => !paths.has(each),
    );
    paths.add(own ?? path);
    names.set(table, {
      className,
      // No class has a file with such a sign.
      fileName: NO_FILES.test(file) ? `${file}_model` : file,
      prefix: own === path || own === undefined ? null : own,
    });
  }
  return names;
}
