/** Compiles the relations in `filterAllow` of one resource to plans, or to all problems of the option. */
import type { IncludeOptions } from '../declare/include-options.js';
import { relationNames } from '../describe/relations.js';
import { showValue } from '../util/option-problems.js';
import { compileFilter, filterEntries, isRelated, spellingProblem } from './compile-filters.js';
import { choiceProblems, type RelatedModels } from './related-models.js';
import {
  everyInclude,
  type FilterPlan,
  type RelatedPlan,
  type RelatedResource,
  type RelationFilter,
  type ResourcePlan,
} from './resource-plan.js';

/** Relations that follow one another in one condition. */
const MAX_HOPS = 2;

/** A relation while it is compiled. */
interface GrowingFilter extends RelationFilter {
  readonly filters: Map<string, FilterPlan>;
  readonly relations: Map<string, GrowingFilter>;
}

/** The rows that a condition is about: those of the resource, or those behind relations. */
interface Level {
  readonly plan: Pick<ResourcePlan, 'model' | 'info' | 'exposure' | 'filters'>;
  readonly relations: Map<string, GrowingFilter>;
  readonly filters?: Map<string, FilterPlan>;
  /** `country.` */
  readonly prefix: string;
  readonly hops: number;
}

/** Compiles the relations in `filterAllow` of one resource. Its `include` is compiled before. */
export class RelationFilterCompiler {
  readonly #problems = new Set<string>();
  readonly #plan: ResourcePlan;
  readonly #root: Map<string, GrowingFilter> = new Map();
  readonly #into: Map<string, RelationFilter>;
  readonly #allow: object;
  readonly #include: Readonly<Record<string, true | IncludeOptions>>;

  constructor(
    { plan, declaration, filters }: RelatedResource,
    private readonly models: RelatedModels,
  ) {
    this.#plan = plan;
    this.#into = filters;
    this.#allow = declaration.options.filterAllow ?? [];
    this.#include = declaration.options.include ?? {};
  }

  compile(): readonly string[] {
    const level: Level = { plan: this.#plan, relations: this.#root, prefix: '', hops: 0 };
    for (const [name, wanted] of filterEntries(this.#allow)) {
      if (isRelated(this.#plan, name)) this.#name(level, name, wanted);
    }
    for (const [name, filter] of this.#root) this.#into.set(name, filter);
    return [...this.#problems];
  }

  /** One name of a level: of an attribute, of a relation, or a path to an attribute. */
  #name(level: Level, name: string, wanted: unknown): void {
    const { plan, prefix, hops } = level;
    if (!isRelated(plan, name)) {
      const check = {
        ...plan,
        owner: this.#plan.name,
        prefix,
        report: (problem: string) => this.#problems.add(problem),
      };
      const filter = compileFilter(check, name, wanted);
      if (filter) level.filters?.set(name, filter);
      return;
    }
    const dot = name.indexOf('.');
    const relation = dot < 0 ? name : name.slice(0, dot);
    if (hops === MAX_HOPS) {
      this.#report(
        `names '${prefix}${name}', behind more than ${MAX_HOPS} relations, which is the most that a condition may follow.`,
      );
      return;
    }
    const filter = this.#relation(level, relation);
    if (!filter) return;
    const { target, relation: found } = filter.related;
    const next: Level = {
      plan: target,
      relations: filter.relations,
      filters: filter.filters,
      prefix: `${prefix}${relation}.`,
      hops: hops + 1,
    };
    if (dot < 0) this.#names(next, wanted);
    else if (found.isOne) this.#name(next, name.slice(dot + 1), wanted);
    else
      this.#report(
        `names '${prefix}${name}', and ${relation} leads to many records, whose attributes stand in a list of their own; ` +
          `use ${relation}: ['${name.slice(dot + 1)}'].`,
      );
  }

  /** The attributes behind a relation that are named by themselves. */
  #names(level: Level, wanted: unknown): void {
    const { prefix, plan } = level;
    const option = prefix.slice(0, -1);
    if (level.hops > 1) {
      this.#report(
        `names '${option}', which is a relation; name an attribute of ${plan.info.name}: '${prefix}…'.`,
      );
    } else if (wanted === true) this.#all(level, option);
    else if (typeof wanted !== 'object' || wanted === null)
      this.#report(
        `has ${option}: ${showValue(wanted)}; use true, a list of attributes, or an object of attributes and operators.`,
      );
    else for (const [name, operators] of filterEntries(wanted)) this.#name(level, name, operators);
  }

  /** Adds the filters of the target's own lists. */
  #all({ filters, plan }: Level, option: string): void {
    if (plan.filters.size === 0) {
      this.#report(
        `has ${option}: true, and filterAllow of ${plan.info.name} names no attribute; use a list of attributes.`,
      );
    }
    for (const [name, filter] of plan.filters) filters?.set(name, filter);
  }

  #relation(level: Level, name: string): GrowingFilter | null {
    const known = level.relations.get(name);
    if (known) return known;
    const path = `${level.prefix}${name}`;
    const related = this.#lead(level, name, path);
    if (!related) return null;
    if (level.hops > 0 && !related.relation.isOne) {
      this.#report(
        `names '${path}', which leads to many records; only the first relation of a condition may do so.`,
      );
      return null;
    }
    const spelling = spellingProblem(name);
    if (spelling) this.#report(`names '${path}', ${spelling}.`);
    for (const problem of choiceProblems(related.relation)) this.#report(`names '${path}', and ${problem}`);
    const filter = Object.freeze({ related, filters: new Map(), relations: new Map() });
    level.relations.set(name, filter);
    return filter;
  }

  /** Takes the plan of an included relation: its access rule is then evaluated once for both. */
  #lead({ plan }: Level, name: string, path: string): RelatedPlan | null {
    const included = everyInclude(this.#plan.relations.include).find((each) => each.path === path);
    if (included) return included;
    // The problem of such a name is reported already.
    if (Object.hasOwn(this.#include, path) && relationNames(plan.model).includes(name)) return null;
    return this.models.lead(
      plan.model,
      name,
      {},
      {
        option: `filterAllow.${path}`,
        report: (problem) => this.#problems.add(`${this.#plan.name}: ${problem}`),
        mend: `name it in include: '${path}': { where: … } says which rows may be seen, 'all' or a function of the request`,
      },
    );
  }

  #report(problem: string): void {
    this.#problems.add(`${this.#plan.name}: filterAllow ${problem}`);
  }
}
