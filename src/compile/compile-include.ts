/** `include` of one resource -> its plans, or everything that is wrong with it. */

import type { IncludeOptions } from '../declare/include-options.js';
import type { Relation } from '../describe/relations.js';
import { showValue, unknownOptions } from '../util/option-problems.js';
import { compileCount } from './compile-count.js';
import { DEFAULT_PAGE_SIZE } from './compile-options.js';
import type { DecoratorReader } from './compile-resource.js';
import {
  choiceProblems,
  keyProblem,
  type RelatedModels,
  rowProblem,
  scopeProblem,
} from './related-models.js';
import type { IncludePlan, PageSize, RelatedResource, ResourcePlan } from './resource-plan.js';

/** Relations of one request that follow one another, and in all. */
const MAX_DEPTH = 3;
const MAX_PATHS = 10;
/** Rows that a request may read along with its page. */
const MAX_ROWS = 10_000;
const DEFAULT_SIZE: PageSize = Object.freeze({ default: 10, max: 20 });

/** The first of relations that a resource may include together, where nothing else has a size of its own. */
export function includable<T>(relations: readonly T[], isOne: (relation: T) => boolean): T[] {
  let rows = MAX_ROWS / DEFAULT_PAGE_SIZE.max;
  return relations.slice(0, MAX_PATHS).filter((each) => {
    rows -= isOne(each) ? 1 : DEFAULT_SIZE.max + 1;
    return rows >= 0;
  });
}

/** Compiles `include` of one resource. */
export class IncludeCompiler {
  readonly #problems: string[] = [];
  readonly #options: Readonly<Record<string, true | IncludeOptions>>;

  constructor(
    private readonly resource: RelatedResource,
    private readonly models: RelatedModels,
    private readonly decorators: DecoratorReader,
  ) {
    this.#options = resource.declaration.options.include ?? {};
  }

  compile(): readonly string[] {
    const { plan } = this.resource;
    const paths = Object.keys(this.#options);
    if (paths.length > MAX_PATHS)
      this.#report(`include names ${paths.length} relations; at most ${MAX_PATHS} are allowed.`);
    for (const path of paths) {
      const names = path.split('.');
      const parent = names.slice(0, -1).join('.');
      if (names.includes(''))
        this.#report(
          `include has '${path}', which names no relation between its dots; write a path such as 'reviews.author'.`,
        );
      else if (names.length > MAX_DEPTH)
        this.#report(`include.${path} is ${names.length} relations deep; at most ${MAX_DEPTH} are allowed.`);
      else if (parent !== '' && !Object.hasOwn(this.#options, parent))
        this.#report(`include has '${path}' without '${parent}'; add '${parent}': true.`);
    }
    this.#level(plan, '', plan.relations.include);
    if (this.#problems.length === 0) this.#checkBound();
    return this.#problems;
  }

  #level(parent: ResourcePlan, prefix: string, into: Map<string, IncludePlan>): void {
    for (const [path, options] of Object.entries(this.#options)) {
      const name = path.slice(prefix.length);
      if (!path.startsWith(prefix) || name.includes('.') || name === '') continue;
      const plan = this.#one(parent, path, name, options);
      if (plan) into.set(name, plan);
    }
  }

  #one(parent: ResourcePlan, path: string, name: string, options: true | IncludeOptions): IncludePlan | null {
    const option = `include.${path}`;
    const report = (problem: string): void => this.#report(problem);
    const refuse = (problem: string): null => {
      report(`${option} ${problem}`);
      return null;
    };
    if (options !== true && (typeof options !== 'object' || options === null))
      return refuse(`is ${showValue(options)}; use true, or an object such as { size: { max: 20 } }.`);
    const { info, explicitSchemas } = parent;
    const { read } = explicitSchemas;
    if (info.attributes.has(name) || (read && this.decorators.classProperties(read, 'read').has(name)))
      return refuse(`has the name of a property of ${parent.name}; give one of them another name.`);
    const given = options === true ? {} : options;
    unknownOptions(option, given, ['size', 'count', 'where']).forEach(report);
    const found = this.models.lead(parent.model, name, given, { option, report });
    if (!found) return null;
    const { relation } = found;
    const problem =
      rowProblem(found.target.info) ??
      keyProblem(relation) ??
      (path === name ? scopeProblem(relation) : null);
    if (problem !== null) return refuse(problem);
    const size = compileSize(given, relation, (each) => {
      report(`${option}.size ${each}`);
      return null;
    });
    const count = this.#count(option, given, relation);
    const include = new Map<string, IncludePlan>();
    this.#level(found.target, `${path}.`, include);
    return Object.freeze({ ...found, path, size, count, include });
  }

  #count(option: string, { count }: IncludeOptions, relation: Relation): IncludePlan['count'] {
    if (count === undefined) return null;
    if (relation.isOne) {
      this.#report(`${option}.count is about a relation to one record; remove it.`);
      return null;
    }
    for (const problem of choiceProblems(relation)) this.#report(`${option}.count cannot be: ${problem}`);
    return compileCount(count, 'none', `${option}.count`, (problem) => this.#report(problem));
  }

  /** Bounds the rows that one request reads. One more row of each record shows that others follow. */
  #checkBound(): void {
    const { relations, pageSize } = this.resource.plan;
    const rowsOf = (include: ReadonlyMap<string, IncludePlan>): number =>
      [...include.values()].reduce(
        (sum, { size, include: inside }) =>
          sum + (size ? size.max + 1 : 1) + (size?.max ?? 1) * rowsOf(inside),
        0,
      );
    const perRecord = rowsOf(relations.include);
    if (perRecord * pageSize.max <= MAX_ROWS) return;
    this.#report(
      `include lets a request read ${perRecord} rows for each of ${pageSize.max} records of a page, ${perRecord * pageSize.max} in all; at most ` +
        `${MAX_ROWS} are allowed. Lower pageSize.max, or the size of a relation.`,
    );
  }

  #report(problem: string): void {
    this.#problems.push(`${this.resource.plan.name}: ${problem}`);
  }
}

/** Rows of each parent; null where it has one at most. */
function compileSize(
  { size }: IncludeOptions,
  { isOne }: Relation,
  refuse: (problem: string) => null,
): PageSize | null {
  if (size === undefined) return isOne ? null : DEFAULT_SIZE;
  if (isOne) return refuse('is about a relation to one record; remove it.');
  if (typeof size !== 'object' || size === null)
    return refuse(`is ${showValue(size)}; use an object such as { default: 3, max: 20 }.`);
  const { default: usual, max = Math.max(DEFAULT_SIZE.max, usual ?? 0), ...others } = size;
  const [stray] = Object.keys(others);
  if (stray !== undefined) return refuse(`has no '${stray}'; use default and max.`);
  const wrong = [usual ?? 1, max].find((value) => !Number.isSafeInteger(value) || value < 1);
  if (wrong !== undefined) return refuse(`has ${showValue(wrong)}; use integers from 1.`);
  const chosen = usual ?? Math.min(DEFAULT_SIZE.default, max);
  if (chosen > max) return refuse(`has the default ${chosen}, above its max ${max}; raise max.`);
  return Object.freeze({ default: chosen, max });
}
