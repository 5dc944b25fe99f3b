/** `include` of one resource -> its plans, or everything that is wrong with it. */
import type { IncludeOptions } from '../declare/include-options.js';
import type { Relation } from '../describe/relations.js';
import { showValue, unknownOptions } from '../util/option-problems.js';
import { compileCount } from './compile-count.js';
import type { DecoratorReader } from './compile-resource.js';
import { choiceProblems, keyProblem, type RelatedModels, scopeProblem } from './related-models.js';
import type { IncludePlan, PageSize, RelatedResource, ResourcePlan } from './resource-plan.js';

/** Relations of one request that follow one another, and in all. */
const MAX_DEPTH = 3;
const MAX_PATHS = 10;
/** Rows that a request may read along with its page. */
const MAX_ROWS = 10_000;
const DEFAULT_SIZE: PageSize = Object.freeze({ default: 10, max: 20 });

/** Compiles `include` of one resource. */
export class IncludeCompiler {
  readonly #problems: string[] = [];
  readonly #plan: ResourcePlan;
  readonly #include: Map<string, IncludePlan>;
  readonly #options: Readonly<Record<string, true | IncludeOptions>>;

  constructor(
    { plan, declaration, include }: RelatedResource,
    private readonly models: RelatedModels,
    private readonly decorators: DecoratorReader,
  ) {
    this.#plan = plan;
    this.#include = include;
    this.#options = declaration.options.include ?? {};
  }

  compile(): readonly string[] {
    const paths = Object.keys(this.#options);
    if (paths.length > MAX_PATHS) {
      this.#report(`include names ${paths.length} relations; at most ${MAX_PATHS} are allowed.`);
    }
    for (const path of paths) {
      const names = path.split('.');
      const parent = names.slice(0, -1).join('.');
      if (names.includes('')) {
        this.#report(
          `include has '${path}', which names no relation between its dots; write a path such as 'reviews.author'.`,
        );
      } else if (names.length > MAX_DEPTH) {
        this.#report(`include.${path} is ${names.length} relations deep; at most ${MAX_DEPTH} are allowed.`);
      } else if (parent !== '' && !Object.hasOwn(this.#options, parent)) {
        this.#report(`include has '${path}' without '${parent}'; add '${parent}': true.`);
      }
    }
    this.#level(this.#plan, '', this.#include);
    if (this.#problems.length === 0) this.#checkBound();
    return this.#problems;
  }

  /** The relations of one model, at a place in the tree. */
  #level(parent: ResourcePlan, prefix: string, into: Map<string, IncludePlan>): void {
    for (const [path, options] of Object.entries(this.#options)) {
      const name = path.slice(prefix.length);
      if (!path.startsWith(prefix) || name.includes('.') || name === '') continue;
      const plan = this.#one(parent, path, name, options);
      if (plan) into.set(name, plan);
    }
  }

  #one(parent: ResourcePlan, path: string, name: string, options: true | IncludeOptions): IncludePlan | null {
    const report = (problem: string): null => {
      this.#report(`include.${path} ${problem}`);
      return null;
    };
    if (options !== true && (typeof options !== 'object' || options === null))
      return report(`is ${showValue(options)}; use true, or an object such as { size: { max: 20 } }.`);
    if (this.#isShown(parent, name))
      return report(`has the name of a property of ${parent.name}; give one of them another name.`);
    const given = options === true ? {} : options;
    const unknown = unknownOptions(`${this.#plan.name}: include.${path}`, given, ['size', 'count', 'where']);
    this.#problems.push(...unknown);
    const found = this.models.lead(parent.model, name, given, {
      option: `include.${path}`,
      report: (problem) => this.#report(problem),
    });
    if (!found) return null;
    const problem = keyProblem(found.relation) ?? (path === name ? scopeProblem(found.relation) : null);
    if (problem !== null) return report(problem);
    const size = this.#size(path, given, found.relation);
    const count = this.#count(path, given, found.relation);
    const include = new Map<string, IncludePlan>();
    this.#level(found.target, `${path}.`, include);
    return Object.freeze({ ...found, path, size, count, include });
  }

  #isShown({ info, explicitSchemas: { read } }: ResourcePlan, name: string): boolean {
    return (
      info.attributes.has(name) || (read !== null && this.decorators.classProperties(read, 'read').has(name))
    );
  }

  #size(path: string, { size }: IncludeOptions, { isOne }: Relation): PageSize | null {
    if (size === undefined) return isOne ? null : DEFAULT_SIZE;
    const report = (problem: string): PageSize => {
      this.#report(`include.${path}.size ${problem}`);
      return DEFAULT_SIZE;
    };
    if (isOne) return report('is about a relation to one record; remove it.');
    if (typeof size !== 'object' || size === null)
      return report(`is ${showValue(size)}; use an object such as { default: 3, max: 20 }.`);
    const { default: usual, max = Math.max(DEFAULT_SIZE.max, usual ?? 0), ...others } = size;
    const [stray] = Object.keys(others);
    if (stray !== undefined) return report(`has no '${stray}'; use default and max.`);
    for (const value of [usual ?? 1, max]) {
      if (!Number.isSafeInteger(value) || value < 1)
        return report(`has ${showValue(value)}; use integers from 1.`);
    }
    const chosen = usual ?? Math.min(DEFAULT_SIZE.default, max);
    if (chosen > max) return report(`has the default ${chosen}, above its max ${max}; raise max.`);
    return Object.freeze({ default: chosen, max });
  }

  #count(path: string, { count }: IncludeOptions, relation: Relation): IncludePlan['count'] {
    if (count === undefined) return null;
    if (relation.isOne) {
      this.#report(`include.${path}.count is about a relation to one record; remove it.`);
      return null;
    }
    for (const problem of choiceProblems(relation))
      this.#report(`include.${path}.count cannot be: ${problem}`);
    return compileCount(count, 'none', `${this.#plan.name}: include.${path}.count`, (problem) =>
      this.#problems.push(problem),
    );
  }

  /** Bounds the rows that one request reads. One more row of each record shows that others follow. */
  #checkBound(): void {
    const rowsOf = (include: ReadonlyMap<string, IncludePlan>): number =>
      [...include.values()].reduce(
        (sum, { size, include: inside }) =>
          sum + (size ? size.max + 1 : 1) + (size?.max ?? 1) * rowsOf(inside),
        0,
      );
    const perRecord = rowsOf(this.#include);
    const page = this.#plan.pageSize.max;
    if (perRecord * page <= MAX_ROWS) return;
    this.#report(
      `include lets a request read ${perRecord} rows for each of ${page} records of a page, ${perRecord * page} in all; at most ` +
        `${MAX_ROWS} are allowed. Lower pageSize.max, or the size of a relation.`,
    );
  }

  #report(problem: string): void {
    this.#problems.push(`${this.#plan.name}: ${problem}`);
  }
}
