/** Names in `q` -> what they stand for: attributes, those behind relations, and relations. */

import { restrictedNames } from '../../compile/access-plan.js';
import {
  type FilterPlan,
  hasRestrictedKey,
  type RelationFilter,
  type ResourcePlan,
} from '../../compile/resource-plan.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { didYouMean } from '../../util/option-problems.js';
import { FilterError } from './filter-error.js';
import { FILTER_LIMITS, type Lexeme } from './filter-syntax.js';
import { quote } from './query-string.js';
import type { RelatedRows } from './related-filters.js';

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

/** An attribute by the name that the client knows it by. */
export type ShownAttribute = Pick<AttributeInfo, 'name' | 'type'>;

/** An attribute, behind relations to one record. */
export interface NamedAttribute {
  readonly kind: 'attribute';
  readonly hops: readonly RelationFilter[];
  /** As it is called in its model. */
  readonly name: string;
  readonly attribute: ShownAttribute;
  readonly filter: FilterPlan;
}

/** A relation, behind relations to one record. */
export interface NamedRelations {
  readonly kind: 'relation';
  readonly hops: readonly RelationFilter[];
  readonly last: RelationFilter;
  /** That of the last one. */
  readonly level: Level;
}

/** Finds the names of one filter, and counts them. */
export class FilterNames {
  readonly #uses = new Map<string, number>();
  #relations = 0;

  constructor(private readonly rows: RelatedRows) {}

  /**
   * The same answer for a hidden attribute as for none: only what may be filtered is ever named.
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
    throw new FilterError('q.too-complex', position, {
      detail: `At most ${FILTER_LIMITS.sameAttribute} comparisons of '${text}' are allowed.`,
    });
  }

  #countRelation({ position }: Lexeme): void {
    this.#relations += 1;
    if (this.#relations <= FILTER_LIMITS.relations) return;
    throw new FilterError('q.too-complex', position, {
      detail: `At most ${FILTER_LIMITS.relations} conditions on related records are allowed.`,
    });
  }
}

/** A plan without what a request may not read. What a relation leads to would tell the value of its key. */
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
  return new Map([...relations].filter(([, { related }]) => !unreadable.has(related.relation.parentKey)));
}

/** All names that a filter may have. What is not known to be readable by each request is left out behind relations. */
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
  return new FilterError('q.unknown-field', position, {
    detail: `Cannot filter by ${quote(text)}.${didYouMean(text, allowed)} ${choices}`,
    allowed,
  });
}

function toMany({ position }: Lexeme, name: string, rest: string): FilterError {
  const example = `${name}=any=(${quote(rest).slice(1, -1)}==…)`;
  return new FilterError('q.to-many', position, {
    detail: `'${name}' has many records; write ${example} for one of them, or =none= for none.`,
  });
}
