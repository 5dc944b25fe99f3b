/** Shows what answers a route to subscribers of the channel of operations. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import { operationChannel } from '../../diagnostics/channels.js';
import { traceOperation } from '../../diagnostics/trace-operation.js';
import { describePath } from '../../request/describe-path.js';
import type { ActionRunner } from '../resources/controller-metadata.js';
import { bulkRouteOf, generatedRouteOf } from '../resources/generated-routes.js';

/** The same handler; subscribers may come and go while it works. */
export function tracedHandler(plan: ResourcePlan, method: string, handler: ActionRunner): ActionRunner {
  const operation = bulkRouteOf(method)?.endpoint ?? generatedRouteOf(method, plan)?.operation ?? method;
  return (metadata, action, params) => {
    if (!operationChannel.hasSubscribers) return handler(metadata, action, params);
    const { request, response } = action;
    const message = { resource: plan.name, operation, route: describePath(request), request, response };
    return traceOperation(message, async () => handler(metadata, action, params));
  };
}
