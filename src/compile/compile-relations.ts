/** Compiles the relations in the options of all resources. Each may lead to any other, so all are compiled together. */
import type { SharedAccess } from './compile-access.js';
import { IncludeCompiler } from './compile-include.js';
import { RelationFilterCompiler } from './compile-relation-filters.js';
import type { DecoratorReader } from './compile-resource.js';
import { compileSubresources } from './compile-subresources.js';
import { RelatedModels } from './related-models.js';
import type { RelatedResource } from './resource-plan.js';

/** Compiles the relations of all resources into their plans. @returns every problem */
export function compileRelations(
  resources: readonly RelatedResource[],
  decorators: DecoratorReader,
  shared: SharedAccess,
): readonly string[] {
  const models = new RelatedModels(resources, decorators, shared);
  const served = new Set(resources.map(({ plan }) => plan));
  return resources.flatMap((resource) => [
    ...new IncludeCompiler(resource, models, decorators).compile(),
    ...new RelationFilterCompiler(resource, models).compile(),
    ...compileSubresources(resource, models, served),
  ]);
}
