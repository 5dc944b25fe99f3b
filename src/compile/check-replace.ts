/** Conditions under which `PUT /{id}` can create and replace the records of a resource. */
import type { ResourcePlan } from './resource-plan.js';

/** Why a resource cannot have the endpoint; none where it has it not, or can. */
export function replaceProblems(
  {
    info,
    exposure,
    endpoints,
    explicitSchemas: { create, update },
    access,
  }: Pick<ResourcePlan, 'info' | 'exposure' | 'endpoints' | 'explicitSchemas' | 'access'>,
  propertiesOf: (schema: NonNullable<typeof create>) => ReadonlySet<string>,
): string[] {
  if (!endpoints.has('replace')) return [];
  const { name, hasDefault } = info.primaryKey;
  const isHidden = exposure.unwritable.has(name) || access?.fields.get(name)?.create === false;
  const problems: string[] = [];
  if (create ? !propertiesOf(create).has(name) : hasDefault || isHidden) {
    problems.push(
      `${info.name}: endpoints has 'replace', and clients do not give the key '${name}' of a new record` +
        `${create ? `, which createSchema ${create.name} lacks` : ''}; leave it out.`,
    );
  }
  if (update && update !== create) {
    problems.push(
      `${info.name}: endpoints has 'replace', whose body has to be right for both writes, and updateSchema ${update.name} is not the ` +
        'createSchema; use one class for the two, or leave it out.',
    );
  }
  return problems;
}
