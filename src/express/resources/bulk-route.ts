/** The routes for many records, as data. */
import { BULK_ENDPOINTS, type BulkEndpoint, SINGLE_OF } from '../../declare/endpoint.js';
import { type RouteSpec, USUAL } from '../../operation/route-spec.js';

/** A route for many records. */
export interface BulkRoute {
  readonly endpoint: BulkEndpoint;
  /** Key in the place of a method's name: `bulk.createMany`. No method has a dot. */
  readonly method: string;
  /** Route for one record, whose method is called for each. */
  readonly single: RouteSpec;
}

/** In the order they are mounted. */
export const BULK_ROUTES: readonly BulkRoute[] = BULK_ENDPOINTS.map((endpoint) => ({
  endpoint,
  method: `bulk.${endpoint}`,
  single: USUAL[SINGLE_OF[endpoint]],
}));

/** The route for many records that has this name in the place of a method's, if it is one. */
export function bulkRouteOf(method: string): BulkRoute | undefined {
  return BULK_ROUTES.find((route) => route.method === method);
}
