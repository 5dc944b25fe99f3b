/** What a TypeScript module imports and exports, read from its tokens: TypeScript 7 has no parser to call. */
import { type Token, tokenize } from './tokens.js';

/** One name of an import or export clause. `default` and `*` stand for themselves. */
export interface BoundName {
  /** What it is called in the module it comes from. */
  readonly source: string;
  /** What it is called here, or for those who import it from here. */
  readonly name: string;
  readonly isTypeOnly: boolean;
}

/** One use of another module. */
export interface ModuleReference {
  readonly kind: 'import' | 'export' | 'dynamic' | 'require';
  /** Null when it is computed. */
  readonly specifier: string | null;
  /** The compiler erases it. */
  readonly isTypeOnly: boolean;
  readonly names: readonly BoundName[];
  readonly line: number;
}

/** What was found in a module. */
export interface ModuleScan {
  readonly references: readonly ModuleReference[];
  /** The lines that export a default. */
  readonly defaultExports: readonly number[];
}

/** A clause, and the tokens that follow it. */
interface Clause {
  readonly isTypeOnly: boolean;
  readonly names: readonly BoundName[];
  readonly rest: readonly Token[];
}

/** Finds every import, re-export, `import()` and `require()` of a source. */
export function scanModule(source: string): ModuleScan {
  const tokens = tokenize(source);
  const references: ModuleReference[] = [];
  const defaultExports: number[] = [];
  for (const [index, { kind, text, line }] of tokens.entries()) {
    if (kind !== 'word' || isMember(tokens, index)) continue;
    if (text !== 'import' && text !== 'export' && text !== 'require') continue;
    const rest = tokens.slice(index + 1);
    if (text === 'export' && exportsDefault(rest)) defaultExports.push(line);
    const reference = isSign(rest[0], '(') ? scanCall(tokens, index) : scanStatement(text, rest);
    if (reference) references.push({ ...reference, line });
  }
  return { references, defaultExports };
}

/** `a.import` is, `...import('a')` is not. */
function isMember(tokens: readonly Token[], index: number): boolean {
  return isSign(tokens[index - 1], '.') && !isSign(tokens[index - 2], '.');
}

/** `import('a')`, `typeof import('a')` and `require('a')`. */
function scanCall(tokens: readonly Token[], index: number): Omit<ModuleReference, 'line'> | null {
  const [callee, , argument, end] = tokens.slice(index);
  if (isWord(callee, 'require') && isImportEquals(tokens, index)) return null;
  const isLiteral = isSign(end, ')') || isSign(end, ',');
  return {
    kind: isWord(callee, 'require') ? 'require' : 'dynamic',
    specifier: isLiteral ? literalText(argument) : null,
    isTypeOnly: isWord(tokens[index - 1], 'typeof'),
    names: [],
  };
}

/** `import a = require('b')` is one reference, and was found at the `import`. */
function isImportEquals(tokens: readonly Token[], index: number): boolean {
  const before = tokens.slice(Math.max(index - 4, 0), index - 1);
  return isSign(tokens[index - 1], '=') && before.some((token) => isWord(token, 'import'));
}

function literalText(token: Token | undefined): string | null {
  if (token?.kind === 'string') return token.text;
  return token?.kind === 'template' && token.text.endsWith('`') ? token.text.slice(1, -1) : null;
}

function scanStatement(
  kind: 'import' | 'export' | 'require',
  tokens: readonly Token[],
): Omit<ModuleReference, 'line'> | null {
  const [first] = tokens;
  if (kind === 'import' && first?.kind === 'string') {
    return { kind, specifier: first.text, isTypeOnly: false, names: [] };
  }
  const clause = kind === 'import' ? importClause(tokens) : exportClause(tokens);
  if (!clause) return null;
  const [connector, second, third] = clause.rest;
  const isRequire = isSign(connector, '=') && isWord(second, 'require') && isSign(third, '(');
  const target = isRequire ? clause.rest[3] : second;
  if ((!isRequire && !isWord(connector, 'from')) || target?.kind !== 'string') return null;
  const isTypeOnly =
    clause.isTypeOnly || (clause.names.length > 0 && clause.names.every((name) => name.isTypeOnly));
  return { kind, specifier: target.text, isTypeOnly, names: clause.names };
}

/** `a, { b as c, type d }`, `* as e` or one of them, with or without `type` before it. */
function importClause(tokens: readonly Token[]): Clause | null {
  const { isTypeOnly, rest } = skipTypeModifier(tokens);
  const names: BoundName[] = [];
  let remaining = rest;
  if (remaining[0]?.kind === 'word') {
    names.push({ source: 'default', name: remaining[0].text, isTypeOnly });
    remaining = remaining.slice(1);
    if (!isSign(remaining[0], ',')) return { isTypeOnly, names, rest: remaining };
    remaining = remaining.slice(1);
  }
  const group = nameGroup(remaining, isTypeOnly);
  return group && { isTypeOnly, names: [...names, ...group.names], rest: group.rest };
}

/** `{ a as b, type c }`, `*` or `* as d`, with or without `type` before it. */
function exportClause(tokens: readonly Token[]): Clause | null {
  const { isTypeOnly, rest } = skipTypeModifier(tokens);
  return nameGroup(rest, isTypeOnly);
}

function nameGroup(tokens: readonly Token[], isTypeOnly: boolean): Clause | null {
  if (isSign(tokens[0], '*')) {
    const hasName = isWord(tokens[1], 'as');
    const name = hasName ? (tokens[2]?.text ?? '*') : '*';
    return { isTypeOnly, names: [{ source: '*', name, isTypeOnly }], rest: tokens.slice(hasName ? 3 : 1) };
  }
  const end = tokens.findIndex((token) => isSign(token, '}'));
  if (!isSign(tokens[0], '{') || end < 0) return null;
  const names = splitAtCommas(tokens.slice(1, end)).map((words) => boundName(words, isTypeOnly));
  return { isTypeOnly, names, rest: tokens.slice(end + 1) };
}

/** In `type as x` the word is a name; in `type x` and `type x as y` it is the modifier. */
function boundName(words: readonly string[], isTypeOnly: boolean): BoundName {
  const hasModifier = words[0] === 'type' && words.length % 2 === 0;
  const [source = '', , name = source] = hasModifier ? words.slice(1) : words;
  return { source, name, isTypeOnly: isTypeOnly || hasModifier };
}

function splitAtCommas(tokens: readonly Token[]): string[][] {
  const groups: string[][] = [[]];
  for (const token of tokens) {
    if (isSign(token, ',')) groups.push([]);
    else groups.at(-1)?.push(token.text);
  }
  return groups.filter((group) => group.length > 0);
}

/** `import type from 'x'` imports a default called `type`. */
function skipTypeModifier(tokens: readonly Token[]): { isTypeOnly: boolean; rest: readonly Token[] } {
  const [first, second, third] = tokens;
  const isName =
    isSign(second, ',') || isSign(second, '=') || (isWord(second, 'from') && third?.kind === 'string');
  return isWord(first, 'type') && !isName
    ? { isTypeOnly: true, rest: tokens.slice(1) }
    : { isTypeOnly: false, rest: tokens };
}

function exportsDefault(rest: readonly Token[]): boolean {
  if (isWord(rest[0], 'default') || isSign(rest[0], '=')) return true;
  return exportClause(rest)?.names.some(({ name }) => name === 'default') ?? false;
}

function isSign(token: Token | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text;
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text;
}
