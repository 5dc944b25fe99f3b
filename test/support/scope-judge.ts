/** Judges by the text and the values of a statement if it can touch rows outside a scope. A statement that it does not understand is a finding. */
import type { SentStatement } from './statement-tap.js';

/** A table whose rows have an owner. */
export interface ScopedTable {
  readonly table: string;
  /** The column with the owner. */
  readonly column: string;
  /** Whose rows may be touched. */
  readonly allowed: readonly string[];
}

/** A token, or the content of parentheses. */
type Node = string | readonly Node[];

const TOKEN =
  /\s+|E'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\d+|[A-Za-z_]\w*|\d+(?:\.\d+)?|::|<>|[<>!]=|\|\||[^\s\w]/gy;
/** Words before the name of a table. */
const BEFORE_TABLE = new Set(['FROM', 'JOIN', 'UPDATE', 'INTO', 'ONLY']);
const AFTER_CLAUSE = new Set(
  'WHERE LEFT INNER JOIN ORDER GROUP HAVING LIMIT OFFSET FOR RETURNING UNION'.split(' '),
);

/** The problem of a statement; null where it has none. */
export function judge(statement: SentStatement, scoped: ScopedTable): string | null {
  // Without the name there is nothing to judge, and taking a statement apart takes time.
  if (!statement.text.includes(`"${scoped.table}"`)) return null;
  const reason = judgeQuery(treeOf(statement.text), statement, scoped);
  return reason === null ? null : `${reason}: ${statement.text} ${JSON.stringify(statement.values)}`;
}

/** The texts of the queries before the statement, with one blank between tokens, by name. */
function tablesOf(statement: SentStatement): ReadonlyMap<string, string> {
  const nodes = treeOf(statement.text);
  const tables = new Map<string, string>();
  for (const [at, node] of nodes.entries()) {
    const isTable = typeof node !== 'string' && ['AS', 'MATERIALIZED'].includes(wordAt(nodes, at - 1));
    const name = nodes.slice(0, at).findLast((each) => typeof each === 'string' && each.startsWith('"'));
    if (isTable && typeof name === 'string') tables.set(name, flatten(node));
  }
  return tables;
}

function flatten(node: Node): string {
  return typeof node === 'string' ? node : `(${node.map(flatten).join(' ')})`;
}

/**
 * True where a write of a statement of many rows writes only the rows that the query `.found` has locked. That query is judged as
 * any other. The rows are selected by the found key, or by keys of which each has been found, or nothing is written.
 */
function isOfFound(
  conditions: readonly (readonly Node[])[],
  alias: Node | undefined,
  statement: SentStatement,
): boolean {
  const tables = tablesOf(statement);
  const texts = conditions.map((each) => each.map(flatten).join(' '));
  const isKeyOf = (table: string, name = 'k0') =>
    texts.includes(`${String(alias)} . "id" = ${table} . ${name}`);
  const found = tables.get('".found"') ?? '';
  if (/^\(SELECT (?:[^()]|\((?!SELECT)[^()]*\))* FROM "notes" /.test(found) && isKeyOf('".found"'))
    return true;
  const judged = tables.get('".judged"') ?? '';
  return (
    (isKeyOf('".judged"') || (isKeyOf('".judged"', 'key0') && found.includes(' . "id" AS key0 '))) &&
    judged.includes('found0 IS NULL OR row_number') &&
    judged.endsWith('LEFT JOIN ".found" ON ".found" . found0 = ".given" . k0)') &&
    texts.includes('NOT EXISTS (SELECT FROM ".judged" AS ".any" WHERE ".any" . refused)')
  );
}

/** Owners of many rows that are inserted: the elements in the array of that column. Null where they are not known. */
function ownersOf(
  source: readonly Node[],
  value: readonly Node[],
  statement: SentStatement,
): string[] | null {
  const [name] = value;
  const from = source.findIndex((_, index) => wordAt(source, index) === 'FROM');
  const given = tablesOf(statement).get(String(source[from + 1])) ?? '';
  const [, all = '', names = ''] = /FROM unnest \((.*)\) AS "\.rows" \(([^)]*)\)/.exec(given) ?? [];
  const place = names.split(' , ').indexOf(String(name));
  const parameter = /(?:ELSE )?\$(\d+)(?: END| :: \S+ \[ \])?$/.exec(all.split(' , ')[place] ?? '')?.[1];
  const text = statement.values[Number(parameter) - 1];
  return text
    ? text
        .slice(1, -1)
        .split(',')
        .map((each) => each.replaceAll('"', ''))
    : null;
}

let last: { readonly text: string; readonly tree: readonly Node[] } = { text: '', tree: [] };

/** Each statement is judged for several tables in turn, so the tree of the last one is kept. */
function treeOf(text: string): readonly Node[] {
  if (last.text !== text) last = { text, tree: parse(text) };
  return last.tree;
}

function parse(text: string): readonly Node[] {
  const levels: Node[][] = [[]];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.trim() === '' || token === ';') continue;
    if (token === '(') levels.push([]);
    else if (token === ')') {
      const inner = levels.pop() ?? [];
      levels.at(-1)?.push(inner);
    } else levels.at(-1)?.push(token);
  }
  return levels[0] ?? [];
}

/** Judges one level and all that is inside it. */
function judgeQuery(
  nodes: readonly Node[],
  statement: SentStatement,
  scoped: ScopedTable,
  isAround = false,
): string | null {
  const isOfInsert = isAround || wordAt(nodes, 0) === 'INSERT';
  for (const [at, node] of nodes.entries()) {
    if (typeof node === 'string' || isNeverRun(nodes, at) || (isOfInsert && isKeyCheck(nodes, at))) continue;
    const reason = judgeQuery(node, statement, scoped, isOfInsert);
    if (reason !== null) return reason;
  }
  for (const [at, node] of nodes.entries()) {
    const isTable = node === `"${scoped.table}"` && nodes[at + 1] !== '.' && wordAt(nodes, at - 1) !== 'AS';
    const reason = isTable ? judgeTable(nodes, at, statement, scoped) : null;
    if (reason !== null) return reason;
  }
  return null;
}

const NEVER = ['CASE', 'WHEN', 'FALSE', 'THEN', 'ARRAY'];

/** True in an expression that is never run, and only casts a value to its type. */
function isNeverRun(nodes: readonly Node[], at: number): boolean {
  return NEVER.every((word, index) => wordAt(nodes, at - NEVER.length + index) === word);
}

const KEY_CHECK = /^SELECT 1 FROM "\w+" AS ("\w+") WHERE \1 \. "id" = \$\d+( :: int8)?$/;

/** True in a check for a key. An INSERT may contain it, as the index of the key checks it anyway: there is no second row, whatever owner the first one has. */
function isKeyCheck(nodes: readonly Node[], at: number): boolean {
  const asked = nodes[at] ?? '';
  const isNegated = wordAt(nodes, at - 2) === 'NOT' && wordAt(nodes, at - 1) === 'EXISTS';
  return isNegated && typeof asked !== 'string' && KEY_CHECK.test(asked.flat().join(' '));
}

/** Judges the use of a table that a query names. */
function judgeTable(
  nodes: readonly Node[],
  at: number,
  statement: SentStatement,
  scoped: ScopedTable,
): string | null {
  const before = wordAt(nodes, nodes[at - 1] === '.' ? at - 3 : at - 1);
  if (!BEFORE_TABLE.has(before)) return 'It names the table in a way that this test does not know';
  const verb = wordAt(nodes, 0);
  if (verb === 'INSERT') return judgeInsert(nodes, at, statement, scoped);
  if (verb !== 'SELECT' && verb !== 'UPDATE' && verb !== 'DELETE')
    return 'It does with the table what this test does not know';
  if (verb === 'UPDATE' && setColumns(nodes).includes(`"${scoped.column}"`))
    return 'It changes what rows belong to';
  const conditions = [...conjuncts(clause(nodes, 'WHERE', 0)), ...proofs(nodes)];
  if (before === 'JOIN') conditions.push(...conjuncts(clause(nodes, 'ON', at)));
  const alias = wordAt(nodes, at + 1) === 'AS' ? nodes[at + 2] : nodes[at];
  const isAlone = !nodes.some((_, index) => wordAt(nodes, index) === 'JOIN');
  const holds = conditions.some(
    (each) => (each[1] === '.' ? each[0] === alias : isAlone) && isScope(each, statement, scoped),
  );
  const isWrite = verb === 'UPDATE' || verb === 'DELETE';
  if (isWrite && isOfFound(conditions, alias, statement)) return null;
  return holds ? null : 'It has no condition of the scope';
}

/** The tokens behind a word, up to the next part of the query. */
function clause(nodes: readonly Node[], word: string, from: number): readonly Node[] {
  const start = nodes.findIndex((_, index) => index >= from && wordAt(nodes, index) === word);
  const rest = start < 0 ? [] : nodes.slice(start + 1);
  const end = rest.findIndex((_, index) => AFTER_CLAUSE.has(wordAt(rest, index)));
  return end < 0 ? rest : rest.slice(0, end);
}

/** `(condition) IS TRUE AS "is inside"` of a row read by its key: the transaction fails unless it is true. */
function proofs(nodes: readonly Node[]): (readonly Node[])[] {
  return nodes.flatMap((node, index) => {
    const words = [1, 2, 3, 4].map((step) => wordAt(nodes, index + step)).join(' ');
    return typeof node !== 'string' && words === 'IS TRUE AS "IS INSIDE"' ? conjuncts(node) : [];
  });
}

function judgeInsert(
  nodes: readonly Node[],
  at: number,
  statement: SentStatement,
  { column, allowed }: ScopedTable,
): string | null {
  const columns = split(nodes[at + 1], ',').map((each) => each[0]);
  const place = columns.indexOf(`"${column}"`);
  if (place < 0) return 'It does not say what the row belongs to';
  const source = nodes.slice(wordAt(nodes, at + 2) === 'OVERRIDING' ? at + 5 : at + 2);
  const end = source.findIndex((_, index) => ['WHERE', 'RETURNING'].includes(wordAt(source, index)));
  const given = end < 0 ? source.slice(1) : source.slice(1, end);
  const rows = wordAt(source, 0) === 'SELECT' ? [given] : given.filter((each) => typeof each !== 'string');
  const owners = rows.flatMap((row) => {
    const value = split(row, ',')[place] ?? [];
    return textOf(value, statement) ?? ownersOf(source, value, statement) ?? null;
  });
  const areAllowed = owners.length > 0 && owners.every((each) => each !== null && allowed.includes(each));
  return areAllowed ? null : 'It gives the row to somebody else';
}

function setColumns(nodes: readonly Node[]): (Node | undefined)[] {
  const from = nodes.findIndex((_, index) => wordAt(nodes, index) === 'SET') + 1;
  const rest = nodes.slice(from);
  const end = rest.findIndex((_, index) => ['WHERE', 'FROM', 'RETURNING'].includes(wordAt(rest, index)));
  return split(end < 0 ? rest : rest.slice(0, end), ',').map((each) => each[0]);
}

/** Conditions that must hold all together; an OR is one condition. */
function conjuncts(nodes: readonly Node[]): (readonly Node[])[] {
  const [only] = nodes;
  if (nodes.length === 1 && typeof only !== 'string' && only !== undefined) return conjuncts(only);
  const isOr = nodes.some((_, index) => wordAt(nodes, index) === 'OR');
  const parts = isOr ? [nodes] : split(nodes, 'AND');
  return parts.length > 1 ? parts.flatMap(conjuncts) : parts;
}

/** `"owner" = $1` and `"Note"."owner" = ANY('{A,B}')`. */
function isScope(
  condition: readonly Node[],
  statement: SentStatement,
  { column, allowed }: ScopedTable,
): boolean {
  const [name, operator, ...value] = condition[1] === '.' ? condition.slice(2) : condition;
  if (name !== `"${column}"` || operator !== '=') return false;
  const isAny = wordAt(value, 0) === 'ANY';
  const text = textOf(isAny ? split(value[1], ',').flat() : value, statement);
  if (text === null) return false;
  const texts = isAny
    ? text
        .slice(1, -1)
        .split(',')
        .map((each) => each.replaceAll('"', ''))
    : [text];
  return texts.every((each) => allowed.includes(each));
}

/** The text of a value, which may have a cast; null where it is anything else. */
function textOf(nodes: readonly Node[], { values }: SentStatement): string | null {
  const [value, cast = '::'] = nodes;
  if (typeof value !== 'string' || cast !== '::') return null;
  if (value.startsWith('$')) return values[Number(value.slice(1)) - 1] ?? null;
  return value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : null;
}

function split(nodes: Node | undefined, at: string): (readonly Node[])[] {
  const parts: Node[][] = [[]];
  for (const node of typeof nodes === 'string' ? [nodes] : (nodes ?? [])) {
    if (typeof node === 'string' && node.toUpperCase() === at) parts.push([]);
    else parts.at(-1)?.push(node);
  }
  return parts;
}

function wordAt(nodes: readonly Node[], index: number): string {
  const node = nodes[index];
  return typeof node === 'string' ? node.toUpperCase() : '';
}
