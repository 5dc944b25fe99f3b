/** `subresources` of one resource -> its plans, or everything that is wrong with it. */
import type { IncludeOptions, SubresourceAllow } from '../declare/include-options.js';
import { describeRelation } from '../describe/relations.js';
import { showValue, unknownOptions } from '../util/option-problems.js';
import { isPlain, kebabCase } from './compile-options.js';
import type { DecoratorReader } from './compile-resource.js';
import { keyProblem, type RelatedModels, scopeProblem } from './related-models.js';
import type { RelatedResource, ResourcePlan } from './resource-plan.js';

type Options = true | Pick<IncludeOptions, 'where'>;

const SEGMENT = /^[a-z0-9][a-z0-9-]*$/;

/**
 * Compiles `subresources` of one resource into its plan.
 *
 * @param served the plans of all resources
 * @returns every problem
 */
export function compileSubresources(
  resource: RelatedResource,
  models: RelatedModels,
  served: ReadonlySet<ResourcePlan>,
  { featureLists = [] }: Pick<DecoratorReader, 'featureLists'>,
): readonly string[] {
  const { plan, declaration } = resource;
  const { subresources } = plan.relations;
  const problems: string[] = [];
  const own = entriesOf(declaration.options.subresources ?? []);
  const others = featureLists.flatMap((list) => list(declaration.options));
  const all = [
    ...own.map(([name, options]) => ({
      name,
      options,
      option: `subresources.${name}`,
      mend: `give it ${WHERE}`,
    })),
    ...others
      .filter(({ name }) => !own.some(([each]) => each === name))
      .map((each) => ({ ...each, options: true as const, mend: `name it in subresources with ${WHERE}` })),
  ];
  for (const { name, options, option, mend } of all) {
    const report = (problem: string): void => void problems.push(`${plan.name}: ${problem}`);
    const refuse = (problem: string): void => report(`${option} ${problem}`);
    const said = reasons(resource, name, { options, mend }, served);
    if (subresources.has(name)) said.push('is named twice; name it once.');
    said.forEach(refuse);
    if (said.length > 0) continue;
    if (options !== true) problems.push(...unknownOptions(`${plan.name}: ${option}`, options, ['where']));
    const found = models.lead(plan.model, name, options === true ? {} : options, { option, report, mend });
    if (!found) continue;
    const path = `/:id/${kebabCase(name)}`;
    subresources.set(name, Object.freeze({ ...found, path, method: `subresources.${name}` }));
  }
  return problems;
}

const WHERE = "where: a function of the request that says which rows may be seen here, or 'all'";

function entriesOf(given: SubresourceAllow): readonly (readonly [string, Options])[] {
  if (isPlain(given)) return Object.entries(given as Readonly<Record<string, Options>>);
  return [...(given as readonly string[])].map((name) => [String(name), true] as const);
}

/** Why a relation can have no list under its parents, for any client. Ends of sentences. */
function reasons(
  { plan, declaration: { readGuards = [] } }: RelatedResource,
  name: string,
  { options, mend }: { readonly options: Options; readonly mend: string },
  served: ReadonlySet<ResourcePlan>,
): string[] {
  if (options !== true && !isPlain(options))
    return [`is ${showValue(options)}; use true, or an object such as { where: 'all' }.`];
  const { relation } = describeRelation(plan.model, name);
  // A name without a relation is reported with the other problems of relations.
  if (!relation) return [];
  const { target, isOne } = relation;
  const problem = keyProblem(relation) ?? scopeProblem(relation);
  if (problem !== null) return [problem];
  if (isOne) return ['leads to one record at most, which has no list; include it.'];
  const problems: string[] = [];
  const resource = [...served].find(({ model }) => model === target);
  if (!resource)
    problems.push(
      `leads to ${target.name}, which is not served; add it to the models of bootstrap. A crudRouter serves one model; give it subresources: [].`,
    );
  else if (!resource.endpoints.has('list'))
    problems.push(`leads to ${target.name}, whose endpoints have no list; add 'list' to them.`);
  if (!plan.endpoints.has('read'))
    problems.push(`is below records that no route reads; add 'read' to the endpoints of ${plan.name}.`);
  if (readGuards.length > 0 && (options === true || options.where === undefined))
    problems.push(
      `would be there for records that the read of ${plan.name} may hide, because ${readGuards.join(', and ')}; ${mend}.`,
    );
  if (!SEGMENT.test(kebabCase(name)))
    problems.push('has a name that no path can have; give the association another one with `as`.');
  return problems;
}
