/** `filterAllow` of a resource -> the operators of each attribute, its own and those behind relations. */
import { type CanonicalFilterOperator, JSON_TYPES, type JsonType } from '../declare/crud-options.js';
import { type ColumnType, isJsonb } from '../describe/column-type.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { relationNames } from '../describe/relations.js';
import { ofTables } from '../describe/table-facts.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { type AttributeCheck, type OptionCheck, visibleAttribute } from './compile-options.js';
import {
  canonicalOperator,
  narrowerType,
  operatorSpellings,
  operatorsOf,
  operatorsOfColumn,
} from './filter-operators.js';
import { choiceProblems, type RelatedModels } from './related-models.js';
import {
  everyInclude,
  type FilterPlan,
  type RelatedPlan,
  type RelatedResource,
  type RelationFilter,
  type ResourcePlan,
} from './resource-plan.js';

/** Entries of `filterAllow`, written as a list or as an object. */
export function filterEntries(allow: object): readonly (readonly [name: string, wanted: unknown])[] {
  return Array.isArray(allow) ? allow.map((name) => [String(name), true] as const) : Object.entries(allow);
}

/** True where a name is about a relation of the model. No attribute has the name of a relation. */
function isRelated({ info: { model, attributes } }: Pick<OptionCheck, 'info'>, name: string): boolean {
  const [first = ''] = name.split('.');
  if (attributes.has(name) || attributes.has(first)) return false;
  return name.includes('.') || relationNames(model).includes(name);
}

/** Compiles the filters of a resource. Filters of relations are compiled when all resources are. */
export function compileFilters(check: OptionCheck): ReadonlyMap<string, FilterPlan> {
  const filters = new Map<string, FilterPlan>();
  for (const [name, wanted] of filterEntries(check.options.filterAllow ?? [])) {
    const filter = isRelated(check, name) ? null : compileFilter(check, name, wanted);
    if (filter) filters.set(name, filter);
  }
  return filters;
}

/** Why `q` cannot have a name of an attribute or a relation; undefined where it can. */
function spellingProblem(name: string): string | undefined {
  if (/^[A-Za-z0-9_]+$/.test(name)) return undefined;
  return 'which q cannot spell; rename it with letters of ASCII, digits and _, or remove it';
}

/** One attribute; null where it cannot be filtered by, which is reported. */
function compileFilter(check: AttributeCheck, name: string, wanted: unknown): FilterPlan | null {
  const [first = '', ...keys] = name.split('.');
  if (!check.info.attributes.has(name) && keys.length > 0) return compilePath(check, first, name, wanted);
  const attribute = visibleAttribute(check, 'filterAllow', name, relationNames(check.info.model));
  if (!attribute) return null;
  const { type } = attribute;
  const available = operatorsOf(type);
  const problem = available.length > 0 ? spellingProblem(name) : 'whose type cannot be filtered; remove it';
  if (problem !== undefined) {
    check.report(`filterAllow names '${check.prefix ?? ''}${name}', ${problem}.`);
    return null;
  }
  const operators = wanted === true ? available : narrowOperators(check, attribute, wanted);
  const ofColumn = ofTables(() => operatorsOfColumn(operators, type, attribute.found));
  const narrower = ofTables(() => narrowerType(type, attribute.found?.baseType));
  return Object.freeze({
    attribute: name,
    type,
    get operators() {
      return ofColumn();
    },
    get narrower() {
      return narrower();
    },
  });
}

/** As what the values inside of JSON are compared. */
const COMPARED: Readonly<Record<JsonType, ColumnType>> = {
  string: { kind: 'string', maxLength: null },
  number: { kind: 'float', maximum: Number.MAX_VALUE },
  boolean: { kind: 'boolean' },
};

/** A value inside of an attribute. What it is, only the option can say. */
function compilePath(
  check: AttributeCheck,
  attribute: string,
  name: string,
  wanted: unknown,
): FilterPlan | null {
  const { report, prefix = '' } = check;
  if (!visibleAttribute(check, 'filterAllow', attribute)) return null;
  const jsonType = JSON_TYPES.find((each) => each === wanted);
  const problem = pathProblem(check, attribute, name);
  if (problem !== undefined) report(`filterAllow names '${prefix}${name}', ${problem}.`);
  else if (!jsonType)
    report(
      `filterAllow names '${prefix}${name}', a value inside of JSON, without what it is; ` +
        `use '${prefix}${name}': 'string', 'number' or 'boolean'.`,
    );
  else {
    const type = COMPARED[jsonType];
    return Object.freeze({ attribute, type, jsonType, operators: operatorsOf(type) });
  }
  return null;
}

function pathProblem({ info }: AttributeCheck, attribute: string, name: string): string | undefined {
  const dataType = info.model.getAttributes()[attribute]?.type;
  if (!dataType || !isJsonb(dataType))
    return `and ${attribute} is no column of JSONB, which has values inside; remove it`;
  return name
    .split('.')
    .map(spellingProblem)
    .find((each) => each !== undefined);
}

function narrowOperators(
  { report, prefix = '' }: AttributeCheck,
  { name, type }: AttributeInfo,
  wanted: unknown,
): readonly CanonicalFilterOperator[] {
  const available = operatorsOf(type);
  const option = `filterAllow.${prefix}${name}`;
  if (!Array.isArray(wanted) || wanted.length === 0) {
    report(`${option} is ${showValue(wanted)}; use true or a list of operators.`);
    return available;
  }
  const operators = new Set<CanonicalFilterOperator>();
  for (const spelling of wanted.map(String)) {
    const operator = canonicalOperator(spelling);
    if (operator && available.includes(operator)) operators.add(operator);
    else {
      report(
        `${option} has the operator '${spelling}', which ` +
          `${operator ? `a ${type.kind} column does not have` : 'does not exist'}; ` +
          `use some of ${available.join(', ')}.${operator ? '' : didYouMean(spelling, operatorSpellings())}`,
      );
    }
  }
  return Object.freeze([...operators]);
}

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
