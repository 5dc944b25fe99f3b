/** All declarations of an application -> its frozen plans. Every problem of every resource is thrown at once. */
import { throwProblems } from '../util/config-error.js';
import { compileResource, type DecoratorReader, type PathClaim } from './compile-resource.js';
import type { ResourceDeclaration, ResourcePlan } from './resource-plan.js';

/**
 * Compiles an application.
 *
 * @param earlier problems that were found before, so that everything that is wrong is said at once
 * @throws ConfigError with one line per problem
 */
export function compilePlan(
  declarations: readonly ResourceDeclaration[],
  decorators: DecoratorReader,
  earlier: readonly string[] = [],
): readonly ResourcePlan[] {
  const compilations = declarations.map((declaration) => compileResource(declaration, decorators));
  const found = compilations.flatMap(({ problems }) => problems);
  throwProblems([...earlier, ...found, ...pathProblems(compilations.flatMap(({ claim }) => claim ?? []))]);
  return Object.freeze(compilations.flatMap(({ plan }) => plan ?? []));
}

/** Two models on one path: the second would never be reached. Paths are compared as Express does, ignoring case. */
function pathProblems(claims: readonly PathClaim[]): string[] {
  const owners = new Map<string, PathClaim>();
  const problems: string[] = [];
  for (const claim of claims) {
    const path = claim.prefix.toLowerCase();
    const owner = owners.get(path);
    if (owner) {
      problems.push(
        `${claim.name} and ${owner.name} are both on '${claim.prefix}'; give one of them another prefix.`,
      );
    } else owners.set(path, claim);
  }
  return problems;
}
