/** All declarations of an application -> its frozen plans. Every problem of every resource is thrown at once. */
import { placesApart } from '../declare/crud.js';
import { throwProblems } from '../util/config-error.js';
import { didYouMean } from '../util/option-problems.js';
import type { SharedAccess } from './compile-access.js';
import { IncludeCompiler } from './compile-include.js';
import { RelationFilterCompiler } from './compile-relation-filters.js';
import { compileRelationSorts } from './compile-relation-sorts.js';
import { compileResource, type DecoratorReader } from './compile-resource.js';
import { compileSubresources } from './compile-subresources.js';
import { RelatedModels } from './related-models.js';
import type { RelatedResource, ResourceDeclaration, ResourcePlan } from './resource-plan.js';

/**
 * Compiles an option of a resource that leads to others into `relations.led` of its plan, when all resources are compiled.
 *
 * @param resources all of the application
 * @returns every problem
 */
export type RelationCompiler = (
  resource: RelatedResource,
  models: RelatedModels,
  resources: readonly RelatedResource[],
) => readonly string[];

/** Readers that are injected, because they come after this phase. */
interface PlanReaders extends DecoratorReader {
  /** Compilers of options of features that lead to other resources. Default: none. */
  readonly featureRelations?: readonly RelationCompiler[];
}

/**
 * Compiles an application.
 *
 * @param earlier problems that were found before, so that everything that is wrong is said at once
 * @param shared options of `bootstrap` about access
 * @throws ConfigError with one line per problem
 */
export function compilePlan(
  declarations: readonly ResourceDeclaration[],
  decorators: PlanReaders,
  earlier: readonly string[] = [],
  shared: SharedAccess = {},
): readonly ResourcePlan[] {
  const compilations = declarations.map((declaration) => ({
    declaration,
    ...compileResource(declaration, decorators, shared),
  }));
  const plans = compilations.flatMap(({ plan }) => plan ?? []);
  const own = compilations.flatMap(({ problems }) => problems);
  // A resource that is wrong leads nowhere.
  const related =
    own.length > 0
      ? []
      : compilations.flatMap(({ plan, declaration }) => (plan ? { plan, declaration } : []));
  const found = [...own, ...compileRelations(related, decorators, shared)];
  const strays = strayScopes(plans, found.length === 0 ? shared : {});
  const paths = pathProblems(
    compilations.flatMap(({ claim, declaration: { model } }) => (claim ? { ...claim, model } : [])),
  );
  throwProblems([...earlier, ...found, ...strays, ...paths]);
  return Object.freeze(plans);
}

/** Compiles the relations of all resources into their plans, together, as each may lead to any other. @returns every problem */
function compileRelations(
  resources: readonly RelatedResource[],
  decorators: PlanReaders,
  shared: SharedAccess,
): readonly string[] {
  const models = new RelatedModels(resources, decorators, shared);
  const served = new Set(resources.map(({ plan }) => plan));
  return resources.flatMap((resource) => [
    ...new IncludeCompiler(resource, models, decorators).compile(),
    ...new RelationFilterCompiler(resource, models).compile(),
    ...compileRelationSorts(resource, models),
    ...compileSubresources(resource, models, served, decorators),
    ...(decorators.featureRelations ?? []).flatMap((compile) => compile(resource, models, resources)),
  ]);
}

/** Two models on one path: the second would never be reached. Paths are compared as Express does, ignoring case. */
function pathProblems(claims: readonly Pick<ResourcePlan, 'name' | 'prefix' | 'model'>[]): string[] {
  const owners = new Map<string, Pick<ResourcePlan, 'name' | 'model'>>();
  return claims.flatMap(({ name, prefix, model }) => {
    const owner = owners.get(prefix.toLowerCase());
    if (owner?.name === name) return [sameNameProblem(name, prefix, placesApart(owner.model, model))];
    if (owner) return [`${name} and ${owner.name} are both on '${prefix}'; give one of them another prefix.`];
    owners.set(prefix.toLowerCase(), { name, model });
    return [];
  });
}

function sameNameProblem(name: string, prefix: string, places: readonly [string, string] | null): string {
  const both = `Two models are called ${name}, both on '${prefix}'`;
  if (!places) return `${both}; give one of the classes another name.`;
  const [file, other] = places.map((place) => place.replace(/:\d+:\d+$/, ''));
  const mend = file === other ? '' : ', or import it by one path where it is one class';
  return `${both}: that of ${places.join(' and that of ')}; give one of the classes another name${mend}.`;
}

/** Attributes of `bootstrap`'s scope that no model has: a typo there would show all rows to all requests. */
function strayScopes(resources: readonly ResourcePlan[], { scope = {} }: SharedAccess): string[] {
  const known = [...new Set(resources.flatMap(({ info }) => [...info.attributes.keys()]))];
  return Object.keys(scope)
    .filter((name) => !known.includes(name))
    .map(
      (name) =>
        `bootstrap: scope names '${name}', which no model has.${didYouMean(name, known)} Write the name of an attribute.`,
    );
}
