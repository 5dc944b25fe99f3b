/** Imports of a file: those that a region needs are added, and those that only the region needed are taken away. */
import { quoted } from './code-text.js';

/** A name that code of a region needs. */
export interface NeededImport {
  readonly name: string;
  readonly from: string;
  /** True where the name is a type alone. */
  readonly isType: boolean;
}

/** Import declarations, in the order of formatters: packages first. */
export function importLines(imports: readonly NeededImport[]): string[] {
  const sources = [...new Set(imports.map(({ from }) => from))].sort(bySource);
  return sources.map((from) =>
    importLine(
      from,
      imports
        .filter((each) => each.from === from)
        .map(({ name, isType }) => (isType ? `type ${name}` : name)),
    ),
  );
}

/** One declaration, with its names in alphabetical order. */
function importLine(from: string, names: readonly string[]): string {
  const plain = (name: string) => name.replace(/^type /, '');
  const sorted = [...names].sort((one, other) => compare(plain(one), plain(other)));
  if (sorted.every((name) => name.startsWith('type ')))
    return `import type { ${sorted.map(plain).join(', ')} } from ${quoted(from)};`;
  const line = `import { ${sorted.join(', ')} } from ${quoted(from)};`;
  return line.length <= 100
    ? line
    : `import {\n${sorted.map((name) => `  ${name},\n`).join('')}} from ${quoted(from)};`;
}

function bySource(one: string, other: string): number {
  const [isOwn, isOtherOwn] = [one, other].map((each) => each.startsWith('.'));
  return Number(isOwn) - Number(isOtherOwn) || compare(one, other);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

interface Declaration {
  readonly start: number;
  readonly end: number;
  readonly from: string;
  /** Names as in the code: `type Ref`, `Product as Goods`. */
  readonly names: readonly string[];
  readonly isType: boolean;
  /** True where it has a default import, too, and is left as it is. */
  readonly isKept: boolean;
}

const DECLARATION =
  /(?<=^|\n)import\s+(type\s+)?([\w$]+\s*,\s*)?\{([^}]*)\}\s*from\s*(['"])([^'"\n]+)\4[^\S\n]*;?/g;

function declarationsOf(text: string): Declaration[] {
  return [...text.matchAll(DECLARATION)].map(
    ({ index, 0: whole, 1: type, 2: other, 3: names = '', 5: from = '' }) => ({
      start: index,
      end: index + whole.length,
      from,
      names: names
        .replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '')
        .split(',')
        .map((name) => name.trim().replaceAll(/\s+/g, ' '))
        .filter((name) => name !== ''),
      isType: type !== undefined,
      isKept: other !== undefined,
    }),
  );
}

function localName(name: string): string {
  return name.replace(/^type /, '').replace(/^.* as /, '');
}

/**
 * The text with the imports that its regions need. Where nothing mentions a name any more that only replaced regions had, its import goes.
 *
 * @throws TypeError where the file has another thing under a name that is needed
 */
export function withImports(text: string, needed: readonly NeededImport[], replaced: string): string {
  const complete = needed.reduce(withImport, text);
  const declarations = declarationsOf(complete);
  const mentioned = wordsOf(
    replaceAt(
      complete,
      declarations.map((each) => [each, '']),
    ),
  );
  const gone = new Set([...wordsOf(replaced)].filter((word) => !mentioned.has(word)));
  const changes = declarations.flatMap((each) => {
    const kept = each.names.filter((name) => !gone.has(localName(name)));
    return each.isKept || kept.length === each.names.length ? [] : [[each, declare(each, kept)] as const];
  });
  return replaceAt(complete, changes);
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\w$]+/g));
}

/** The text with other ones in some places. A line that becomes empty goes. */
function replaceAt(text: string, changes: readonly (readonly [Declaration, string])[]): string {
  return changes.toReversed().reduce((changed, [{ start, end }, own]) => {
    const rest = changed.slice(end);
    return changed.slice(0, start) + own + (own === '' ? rest.replace(/^[^\S\n]*\n/, '') : rest);
  }, text);
}

function declare({ from, isType }: Declaration, names: readonly string[]): string {
  if (names.length === 0) return '';
  return importLine(from, isType ? names.map((name) => `type ${name}`) : names);
}

function withImport(text: string, { name, from, isType }: NeededImport): string {
  const declarations = declarationsOf(text);
  for (const each of declarations) {
    const found = each.names.find((own) => localName(own) === name);
    if (found === undefined) continue;
    if (found.replace(/^type /, '') !== name || stem(each.from) !== stem(from))
      throw new TypeError(`imports ${name} from '${each.from}', and its region needs ${name} of '${from}'.`);
    if (isType || !(each.isType || found.startsWith('type '))) return text;
    const others = each.names.filter((own) => own !== found);
    const without = replaceAt(text, [[each, declare(each, others)]]);
    return withImport(without, { name, from, isType });
  }
  const added = isType ? `type ${name}` : name;
  const host = declarations.find((each) => !each.isType && !each.isKept && stem(each.from) === stem(from));
  if (host) return replaceAt(text, [[host, declare(host, [...host.names, added])]]);
  const last = [...text.matchAll(/(?<=^|\n)import\b[^;'"]*(['"])[^'"\n]+\1[^\S\n]*;?/g)].at(-1);
  const place = last ? last.index + last[0].length : 0;
  const line = importLine(from, [added]);
  return `${text.slice(0, place)}${last ? '\n' : ''}${line}${last ? '' : '\n'}${text.slice(place)}`;
}

/** A path without the ending of a module, which compilers and bundlers write in different ways. */
function stem(from: string): string {
  return from.replace(/\.[cm]?[jt]s$/, '');
}
