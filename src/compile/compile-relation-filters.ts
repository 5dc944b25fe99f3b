/** The relations in `filterAllow` of one resource -> their plans, or everything that is wrong with them. */
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

  constructor(
    private readonly resource: RelatedResource,
    private readonly models: RelatedModels,
  ) {}

  compile(): readonly string[] {
    const { plan, declaration } = this.resource;
    const relations = plan.relations.filters as Map<string, GrowingFilter>;
    for (const [name, wanted] of filterEntries(declaration.options.filterAllow ?? [])) {
      if (isRelated(plan, name)) this.#name({ plan, relations, prefix: '', hops: 0 }, name, wanted);
    }
    return [...this.#problems];
  }

  /** One name of a level: of an attribute, of a relation, or a path to an attribute. */
  #name(level: Level, name: string, wanted: unknown): void {
    const { plan, prefix, hops } = level;
    if (!isRelated(plan, name)) {
      const check = { ...plan, prefix, report: (problem: string) => this.#add(problem) };
      const filter = compileFilter(check, name, wanted);
      if (filter) level.filters?.set(name, filter);
      return;
    }
    const [relation = '', ...rest] = name.split('.');
    if (hops === MAX_HOPS) {
      this.#report(
        `names '${prefix}${name}', behind more than ${MAX_HOPS} relations, which is the most that a condition may follow.`,
      );
      return;
    }
    const filter = this.#relation(level, relation);
    if (!filter) return;
    const { related, relations, filters } = filter;
    const next: Level = {
      plan: related.target,
      relations,
      filters,
      prefix: `${prefix}${relation}.`,
      hops: hops + 1,
    };
    if (rest.length === 0) this.#names(next, wanted);
    else if (related.relation.isOne) this.#name(next, rest.join('.'), wanted);
    else
      this.#report(
        `names '${prefix}${name}', and ${relation} leads to many records, whose attributes stand in a list of their own; ` +
          `use ${relation}: ['${rest.join('.')}'].`,
      );
  }

  /** The attributes behind a relation that are named by themselves; `true` is all filters of the target's own lists. */
  #names(level: Level, wanted: unknown): void {
    const { prefix, plan, hops, filters } = level;
    const option = prefix.slice(0, -1);
    if (hops > 1)
      this.#report(
        `names '${option}', which is a relation; name an attribute of ${plan.info.name}: '${prefix}…'.`,
      );
    else if (wanted === true) {
      if (plan.filters.size === 0)
        this.#report(
          `has ${option}: true, and filterAllow of ${plan.info.name} names no attribute; use a list of attributes.`,
        );
      for (const [name, filter] of plan.filters) filters?.set(name, filter);
    } else if (typeof wanted !== 'object' || wanted === null)
      this.#report(
        `has ${option}: ${showValue(wanted)}; use true, a list of attributes, or an object of attributes and operators.`,
      );
    else for (const [name, operators] of filterEntries(wanted)) this.#name(level, name, operators);
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
  #lead({ plan: { model } }: Level, name: string, path: string): RelatedPlan | null {
    const { plan, declaration } = this.resource;
    const included = everyInclude(plan.relations.include).find((each) => each.path === path);
    if (included) return included;
    // The problem of such a name is reported already.
    if (Object.hasOwn(declaration.options.include ?? {}, path) && relationNames(model).includes(name))
      return null;
    const mend = `name it in include: '${path}': { where: … } says which rows may be seen, 'all' or a function of the request`;
    const report = (problem: string) => this.#add(problem);
    return this.models.lead(model, name, {}, { option: `filterAllow.${path}`, report, mend });
  }

  #report(problem: string): void {
    this.#add(`filterAllow ${problem}`);
  }

  #add(problem: string): void {
    this.#problems.add(`${this.resource.plan.name}: ${problem}`);
  }
}
