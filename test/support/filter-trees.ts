/** Filters for tests of the parser: short trees from long ones, and errors as data. */
import { FilterError, parseFilterSyntax, type SyntaxNode } from '../../src/request/query/filter-syntax.js';

/** A tree without positions; junctions of the same kind inside one another are one. */
export type ShortTree =
  | { readonly and: readonly ShortTree[] }
  | { readonly or: readonly ShortTree[] }
  | { readonly of: string; readonly operator: string; readonly condition: ShortTree }
  | readonly [selector: string, operator: string, values: string | readonly string[]];

/** The tree of a filter, or its issues. */
export type Parsed =
  | { readonly tree: ShortTree | null }
  | { readonly code: string; readonly position: number; readonly detail: string };

/** Parses a filter; errors of another kind are thrown. */
export function parsed(text: string): Parsed {
  try {
    const syntax = parseFilterSyntax(text);
    return { tree: syntax && shortTree(syntax) };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { code: error.code, position: error.position, detail: error.message };
  }
}

/** Joins junctions of the same kind. */
export function junction(kind: 'and' | 'or', operands: readonly ShortTree[]): ShortTree {
  const flat = operands.flatMap((operand) =>
    kind === 'and' && 'and' in operand
      ? operand.and
      : kind === 'or' && 'or' in operand
        ? operand.or
        : [operand],
  );
  return kind === 'and' ? { and: flat } : { or: flat };
}

function shortTree(node: SyntaxNode): ShortTree {
  if ('condition' in node) {
    const { selector, operator, condition } = node;
    return { of: selector.text, operator: operator.text, condition: shortTree(condition) };
  }
  if (node.kind !== 'comparison') return junction(node.kind, node.operands.map(shortTree));
  const values = node.values.map(({ text }) => text);
  return [node.selector.text, node.operator.text, node.isList ? values : (values[0] ?? '')];
}
