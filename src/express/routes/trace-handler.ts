/** Shows what answers a route to subscribers of the channel of operations. */

import { traceOperation } from '../../diagnostics/trace-operation.js';
import { describePath } from '../../request/request-log.js';
import type { ActionRunner } from '../resources/controller-metadata.js';

/** Runs a handler as an operation that they see. */
export function runTraced(
  resource: string,
  operation: string,
  handler: ActionRunner,
  ...given: Parameters<ActionRunner>
): ReturnType<ActionRunner> {
  const [, { request, response }] = given;
  const message = { resource, operation, route: describePath(request), request, response };
  return traceOperation(message, async () => handler(...given));
}
