/** Conditions on related rows, from names in `q` to predicates. Those of the same relation become one, where that means the same. */
import type { RelatedPlan, RelationFilter } from '../../compile/resource-plan.js';
import { FilterError } from './filter-error.js';
import { parseFilterSyntax, type SyntaxNode } from './filter-syntax.js';
import type { Comparison, Filter, RelatedFilter } from './predicate.js';

/** Rows behind relations, as far as a request may see them. */
export interface RelatedRows {
  /** Attributes of the target that the request may not read. */
  unreadable(plan: RelatedPlan): ReadonlySet<string>;
  /** True where the request may not read a key of theirs: the rows that belong together would reveal it. */
  isHidden(plan: RelatedPlan): boolean;
  /** Compiles: a row has a related row that the request sees, and that meets a condition; null is any. */
  any(plan: RelatedPlan, condition: Filter | null): RelatedFilter;
}

/** A filter whose relations are still names: conditions on the same one can be told. */
export type NamedFilter =
  | Comparison
  | { readonly kind: 'and' | 'or'; readonly operands: readonly NamedFilter[] }
  | NamedRelation;

/** A test for a related row that meets a condition, or for none. */
export interface NamedRelation {
  readonly kind: 'related';
  readonly relation: RelationFilter;
  readonly isNegated: boolean;
  /** Null is any row. */
  readonly condition: NamedFilter | null;
}

/** Several filters as one. PostgreSQL asks each EXISTS for itself, so that fifty of them are fifty scans. */
export function join(kind: 'and' | 'or', operands: readonly NamedFilter[]): NamedFilter {
  const joined: NamedFilter[] = [];
  for (const operand of operands) {
    const index = joined.findIndex((each) => isMergeable(kind, each, operand));
    const found = joined[index];
    if (found?.kind === 'related' && operand.kind === 'related') joined[index] = merge(kind, found, operand);
    else joined.push(operand);
  }
  const [only] = joined;
  return joined.length === 1 && only ? only : { kind, operands: joined };
}

/**
 * One row is a or b where one is a, or one is b. None is a and none is b where none is a or b. That one is a and one is b says
 * nothing of both, unless there is only one.
 */
function isMergeable(kind: 'and' | 'or', first: NamedFilter, second: NamedFilter): boolean {
  if (first.kind !== 'related' || second.kind !== 'related') return false;
  if (first.relation !== second.relation || first.isNegated !== second.isNegated) return false;
  return first.isNegated === (kind === 'and') || (kind === 'and' && isSingle(first.relation.related));
}

/** A row has several rows of a `hasOne` where nothing keeps a second one out. */
function isSingle({ relation, target: { info } }: RelatedPlan): boolean {
  return relation.isOne && relation.targetKey === info.primaryKey.name;
}

function merge(kind: 'and' | 'or', first: NamedRelation, second: NamedRelation): NamedRelation {
  const within = kind === 'and' && !first.isNegated ? 'and' : 'or';
  const both = [first.condition, second.condition].filter((each) => each !== null);
  // Null is any row: what is asked beside it narrows it, or is part of it.
  if (both.length < 2 && within === 'or') return { ...first, condition: null };
  const operands = both.flatMap((each) =>
    'operands' in each && each.kind === within ? each.operands : [each],
  );
  return { ...first, condition: operands.length > 0 ? join(within, operands) : null };
}

/** The predicate of a filter, with what the request may see. Frozen. */
export function toFilter(named: NamedFilter, rows: RelatedRows): Filter {
  switch (named.kind) {
    case 'comparison':
      return named;
    case 'related': {
      const { relation, isNegated, condition } = named;
      const found = rows.any(relation.related, condition && toFilter(condition, rows));
      return isNegated ? Object.freeze({ ...found, isNegated }) : found;
    }
    default: {
      const operands = named.operands.map((each) => toFilter(each, rows));
      return Object.freeze({ kind: named.kind, operands: Object.freeze(operands) });
    }
  }
}

/** The relations that a text names, as far as it can be understood: what it may see of them is asked before it is read. */
export function namedRelations(
  relations: ReadonlyMap<string, RelationFilter>,
  text: string | undefined,
): readonly RelatedPlan[] {
  if (text === undefined || ![...relations.keys()].some((name) => text.includes(name))) return [];
  try {
    const syntax = parseFilterSyntax(text);
    return syntax ? relationsIn(relations, syntax) : [];
  } catch (error) {
    if (error instanceof FilterError) return [];
    throw error;
  }
}

function relationsIn(
  relations: ReadonlyMap<string, RelationFilter>,
  node: SyntaxNode,
): readonly RelatedPlan[] {
  if ('operands' in node) return node.operands.flatMap((each) => relationsIn(relations, each));
  const found: RelatedPlan[] = [];
  let behind = relations;
  for (const name of node.selector.text.split('.')) {
    const relation = behind.get(name);
    if (!relation) return found;
    found.push(relation.related);
    behind = relation.relations;
  }
  return 'condition' in node ? [...found, ...relationsIn(behind, node.condition)] : found;
}
