/** Names in `q` -> attributes and relations, and conditions on the same relation as one. */

import {
  type FilterPlan,
  hasRestrictedKey,
  type RelatedPlan,
  type RelationFilter,
  type ResourcePlan,
  restrictedNames,
} from '../../compile/resource-plan.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { parentKeys, targetKeys } from '../../describe/relations.js';
import { keyNames } from '../../describe/row-key.js';
import { didYouMean } from '../../util/option-problems.js';
import {
  FILTER_LIMITS,
  FilterError,
  type Lexeme,
  parseFilterSyntax,
  type SyntaxNode,
} from './filter-syntax.js';
import type { Comparison, Filter, RelatedFilter } from './predicate.js';
import { quote } from './query-string.js';

/** Attributes and relations that a filter may name. */
export type FilterablePlan = Pick<ResourcePlan, 'filters'> & {
  /** Default: none. */
  readonly related?: ReadonlyMap<string, RelationFilter>;
};

/** The rows that a condition is about. */
export interface Level extends FilterablePlan {
  /** Prefix of its names in the plan: `reviews.` */
  readonly prefix: string;
}

/** An attribute by the name that clients use. */
export type ShownAttribute = Pick<AttributeInfo, 'name' | 'type'>;

/** An attribute, behind relations to one record. */
export interface NamedAttribute {
  readonly kind: 'attribute';
  readonly hops: readonly RelationFilter[];
  /** Name in its model. */
  readonly name: string;
  readonly attribute: ShownAttribute;
  readonly filter: FilterPlan;
}

/** A relation, behind relations to one record. */
export interface NamedRelations {
  readonly kind: 'relation';
  readonly hops: readonly RelationFilter[];
  readonly last: RelationFilter;
  /** Level of the last relation. */
  readonly level: Level;
}

/** Finds the names of one filter, and counts them. */
export class FilterNames {
  readonly #uses = new Map<string, number>();
  #relations = 0;

  constructor(private readonly rows: RelatedRows) {}

  /**
   * The same answer for a hidden attribute as for none: only attributes that may be filtered are ever named.
   *
   * @throws FilterError
   */
  find(from: Level, selector: Lexeme): NamedAttribute | NamedRelations {
    const { text } = selector;
    const hops: RelationFilter[] = [];
    let level = from;
    let name = text;
    let filter = level.filters.get(name);
    while (!filter) {
      const [first = '', ...more] = name.split('.');
      const last = level.related?.get(first);
      if (!last || this.rows.isHidden(last.related)) throw unknownField(from, selector);
      if (hops.length === 0) this.#countRelation(selector);
      if (more.length === 0) return { kind: 'relation', hops, last, level };
      name = more.join('.');
      if (!last.related.relation.isOne) throw toMany(selector, first, name);
      hops.push(last);
      level = this.behind(level, last);
      filter = level.filters.get(name);
    }
    this.#count(`${level.prefix}${name}`, selector);
    return { kind: 'attribute', hops, name, attribute: { name: text, type: filter.type }, filter };
  }

  /** Names that the request may use for the rows behind a relation. */
  behind({ prefix }: Level, { related, filters, relations }: RelationFilter): Level {
    const plan = { filters, related: relations };
    return {
      ...readablePlan(plan, this.rows.unreadable(related)),
      prefix: `${prefix}${related.relation.name}.`,
    };
  }

  #count(path: string, { text, position }: Lexeme): void {
    const uses = (this.#uses.get(path) ?? 0) + 1;
    this.#uses.set(path, uses);
    if (uses <= FILTER_LIMITS.sameAttribute) return;
    const detail = `At most ${FILTER_LIMITS.sameAttribute} comparisons of '${text}' are allowed.`;
    throw new FilterError('q.too-complex', position, detail);
  }

  #countRelation({ position }: Lexeme): void {
    this.#relations += 1;
    if (this.#relations <= FILTER_LIMITS.relations) return;
    const detail = `At most ${FILTER_LIMITS.relations} conditions on related records are allowed.`;
    throw new FilterError('q.too-complex', position, detail);
  }
}

/** A plan without the attributes that a request may not read, and without their relations, whose rows would reveal the value of a key. */
export function readablePlan<P extends FilterablePlan>(plan: P, unreadable: ReadonlySet<string>): P {
  if (unreadable.size === 0) return plan;
  const filters = [...plan.filters].filter(([, { attribute }]) => !unreadable.has(attribute));
  const related = readableRelations(plan.related ?? new Map(), unreadable);
  return { ...plan, filters: new Map(filters), related };
}

/** The relations of rows without those whose keys a request may not read. */
export function readableRelations(
  relations: ReadonlyMap<string, RelationFilter>,
  unreadable: ReadonlySet<string>,
): ReadonlyMap<string, RelationFilter> {
  const isReadable = ({ related: { relation } }: RelationFilter) =>
    !parentKeys(relation).some((name) => unreadable.has(name));
  return new Map([...relations].filter(([, filter]) => isReadable(filter)));
}

/** All names that a filter may have. Behind relations, attributes that some requests may not read are left out. */
function fieldNames({ filters, related }: FilterablePlan): readonly string[] {
  const behind = [...(related ?? [])].flatMap(([name, { related: plan, filters: others, relations }]) => {
    const restricted = restrictedNames(plan.target.access);
    if (hasRestrictedKey(plan, null)) return [];
    const shown = readablePlan({ filters: others, related: relations }, restricted);
    return plan.relation.isOne ? [name, ...fieldNames(shown).map((each) => `${name}.${each}`)] : [name];
  });
  return [...filters.keys(), ...behind];
}

function unknownField(level: Level, { text, position }: Lexeme): FilterError {
  const allowed = fieldNames(level);
  const choices = allowed.length > 0 ? `Filterable: ${allowed.join(', ')}.` : 'Nothing can be filtered here.';
  const detail = `Cannot filter by ${quote(text)}.${didYouMean(text, allowed)} ${choices}`;
  return new FilterError('q.unknown-field', position, detail, allowed);
}

function toMany({ position }: Lexeme, name: string, rest: string): FilterError {
  const example = `${name}=any=(${quote(rest).slice(1, -1)}==…)`;
  const detail = `'${name}' has many records; write ${example} for one of them, or =none= for none.`;
  return new FilterError('q.to-many', position, detail);
}

/** Rows behind relations, as far as a request may see them. */
export interface RelatedRows {
  /** Attributes of the target that the request may not read. */
  unreadable(plan: RelatedPlan): ReadonlySet<string>;
  /** True where the request may not read a key of theirs: the rows that belong together would reveal it. */
  isHidden(plan: RelatedPlan): boolean;
  /** Compiles: a row has a related row that the request sees, and that meets a condition; null is any. */
  any(plan: RelatedPlan, condition: Filter | null): RelatedFilter;
}

/** A filter whose relations are still names, so that conditions on the same relation are found. */
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

/** Several filters as one. PostgreSQL evaluates each EXISTS by itself, so that fifty of them are fifty scans. */
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
  return (
    relation.isOne && targetKeys(relation).toSorted().join() === keyNames(info.primaryKey).toSorted().join()
  );
}

function merge(kind: 'and' | 'or', first: NamedRelation, second: NamedRelation): NamedRelation {
  const within = kind === 'and' && !first.isNegated ? 'and' : 'or';
  const both = [first.condition, second.condition].filter((each) => each !== null);
  // Null is any row: a condition beside it narrows it, or is part of it.
  if (both.length < 2 && within === 'or') return { ...first, condition: null };
  const operands = both.flatMap((each) =>
    'operands' in each && each.kind === within ? each.operands : [each],
  );
  return { ...first, condition: operands.length > 0 ? join(within, operands) : null };
}

/** The predicate of a filter, with the rows that the request may see. Frozen. */
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

/** The relations that a text names, as far as it can be parsed: their rules are evaluated before the whole text is. */
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
