/** Promises of `test/README.md`, and the tests that hold them: a title begins with its rows in brackets. Scripts read them, too. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from './package-root.js';

/** A row of a table. */
export interface PromiseRow {
  readonly id: string;
  readonly text: string;
}

/** A place that names rows: a title, or a comment of a support file. */
export interface Holder {
  readonly ids: readonly string[];
  /** Under `test`. */
  readonly file: string;
  readonly title: string;
}

const TESTS = join(PACKAGE_ROOT, 'test');
const ROW = /^\| ([A-Z]\d+) \| (.+) \|$/gm;
/** The rows of a title or a comment, and its text behind or before them. */
const HOLDER =
  /(?:^\/\*\*.*?|(?<quote>['"`]))\[(?<ids>[A-Z]\d+(?: [A-Z]\d+)*)\](?: (?<title>.*)\k<quote>)?/gm;

export function promiseRows(readme = readFileSync(join(TESTS, 'README.md'), 'utf8')): readonly PromiseRow[] {
  return [...readme.matchAll(ROW)].map(([, id = '', text = '']) => ({ id, text }));
}

export function holders(): readonly Holder[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!architecture|setups).*\.ts$/.test(file))
    .sort()
    .flatMap((file) => holdersIn(file, readFileSync(join(TESTS, file), 'utf8')));
}

export function holdersIn(file: string, source: string): readonly Holder[] {
  return [...source.matchAll(HOLDER)].map(({ groups = {} }) => ({
    ids: groups['ids']?.split(' ') ?? [],
    file,
    title: groups['title'] ?? '',
  }));
}
