/** Collects parts of a controller that prevent `PUT /{id}`. */
import { isGuarded, lineageOf } from '../resources/controller-metadata.js';
import { CrudController, isOverridden } from '../resources/crud-controller.js';
import type { Resource } from '../resources/resource.js';

/**
 * A replacement creates or updates, and decides between them only inside the method: neither method's decorators can
 * come before it. Decorators of `replace` do, where the user has written it.
 */
export function replaceProblems({ plan, controller }: Resource): string[] {
  const lineage = lineageOf(controller, CrudController);
  if (!plan.endpoints.has('replace') || isOverridden(controller, 'replace') || isGuarded(lineage, 'replace'))
    return [];
  return ['create', 'update']
    .filter((method) => isGuarded(lineage, method))
    .map(
      (method) =>
        `${controller.name}.${method} has decorators that guard it, and endpoints has 'replace', which would go past them; override ` +
        'replace with the decorators that it needs, or leave it out.',
    );
}
