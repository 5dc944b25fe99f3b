/** Access: the operations that requests may use, on all resources. */
import type { OperationRules } from 'crud-controllers';

/**
 * Everybody who reaches the port may list and read all that the models have, also what a later `npm run models` adds.
 * A rule is `true`, `false`, or a function of the request, such as `(request) => isStaff(request)`. `can` in the `@Crud`
 * of a model is for its resource alone, and comes first.
 */
export const can: OperationRules = {
  list: true,
  read: true,
  // Nobody writes, not even where a model is writable.
  create: false,
  update: false,
  delete: false,
};
