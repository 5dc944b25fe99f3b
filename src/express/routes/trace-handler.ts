/** Shows what answers a route to subscribers of the channel of operations. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import { traceOperation } from '../../diagnostics/trace-operation.js';
import { describePath } from '../../request/describe-path.js';
import type { ActionRunner } from '../resources/controller-metadata.js';
import { bulkRouteOf, generatedRouteOf } from '../resources/generated-routes.js';

/** Runs a handler as an operation that they see. */
export function runTraced(
  plan: ResourcePlan,
  method: string,
  handler: ActionRunner,
  ...given: Parameters<ActionRunner>
): ReturnType<ActionRunner> {
  const operation = bulkRouteOf(method)?.endpoint ?? generatedRouteOf(method, plan)?.operation ?? method;
  const [, { request, response }] = given;
  const message = { resource: plan.name, operation, route: describePath(request), request, response };
  return traceOperation(message, async () => handler(...given));
}
