/**
 * Statements as PostgreSQL has understood them: the tree of its own parser and analyzer, which `debug_print_parse` prints (PostgreSQL,
 * "Error Reporting and Logging"). So no pattern over texts decides what a statement does.
 */
import type { Client } from 'pg';

/** A field of a node: a node, a list, or words. */
export type TreeValue = string | TreeNode | readonly TreeValue[];

/** A node, with the name of its type as PostgreSQL prints it, such as `RANGETBLENTRY`. */
export interface TreeNode {
  readonly type: string;
  readonly fields: Readonly<Record<string, TreeValue>>;
}

const TOKEN = /"(?:\\.|[^"\\])*"|[(){}[\]]|(?:\\.|[^\s(){}[\]\\"])+/gs;

/** The tree of a printed node. */
export function readTree(printed: string): TreeNode {
  const tokens = printed.match(TOKEN) ?? [];
  let at = 0;
  const next = (): string => tokens[at++] ?? '';
  const isField = (): boolean => tokens[at]?.startsWith(':') ?? false;
  const read = (): TreeValue => {
    const token = next();
    if (token === '{') return readNode();
    if (token !== '(' && token !== '[') return token;
    const list: TreeValue[] = [];
    while (at < tokens.length && tokens[at] !== (token === '(' ? ')' : ']')) list.push(read());
    at += 1;
    return list;
  };
  const readNode = (): TreeNode => {
    const type = next();
    const fields: Record<string, TreeValue> = {};
    while (at < tokens.length && tokens[at] !== '}') {
      const name = next().slice(1);
      const values: TreeValue[] = [];
      while (at < tokens.length && !isField() && tokens[at] !== '}') values.push(read());
      fields[name] = values.length === 1 ? (values[0] as TreeValue) : values;
    }
    at += 1;
    return { type, fields };
  };
  return read() as TreeNode;
}

/** True for a node. */
export function isNode(value: TreeValue | undefined): value is TreeNode {
  return typeof value === 'object' && 'fields' in value;
}

/** The nodes in a list; none for an empty one, which is printed as `<>`. */
export function nodesIn(value: TreeValue | undefined): readonly TreeNode[] {
  if (isNode(value)) return [value];
  return typeof value === 'object' ? (value as readonly TreeValue[]).filter(isNode) : [];
}

/** All nodes at and below a value. @param enters false for a node whose content is left out */
export function* nodesOf(
  value: TreeValue | undefined,
  enters: (node: TreeNode) => boolean = () => true,
): Generator<TreeNode> {
  if (isNode(value)) {
    yield value;
    if (enters(value)) for (const each of Object.values(value.fields)) yield* nodesOf(each, enters);
  } else if (typeof value === 'object')
    for (const each of value as readonly TreeValue[]) yield* nodesOf(each, enters);
}

/** The tree of a SELECT, INSERT, UPDATE or DELETE. It is not executed. */
export async function treeOf(client: Client, statement: string): Promise<TreeNode> {
  const printed: string[] = [];
  const note = ({ detail }: { readonly detail?: string | undefined }): void => {
    if (detail?.startsWith('{QUERY')) printed.push(detail);
  };
  client.on('notice', note);
  try {
    // The server's own log is left alone.
    await client.query(
      'SET client_min_messages = log; SET log_min_messages = fatal; SET debug_pretty_print = off; SET debug_print_parse = on',
    );
    await client.query(`PREPARE crud_form AS ${statement}`);
  } finally {
    client.off('notice', note);
    await client.query('RESET debug_print_parse; RESET client_min_messages; DEALLOCATE ALL');
  }
  return readTree(printed.at(-1) ?? '');
}
