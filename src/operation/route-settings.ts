/** Settings of PostgreSQL that features add to those of requests. */
import type { Request } from 'express';
import type { ResourcePlan } from '../compile/resource-plan.js';
import type { ModelClass } from '../declare/crud-options.js';
import type { Endpoint } from '../declare/endpoint.js';
import type { Maybe } from '../util/promises.js';
import type { RouteSpec } from './route-spec.js';

/** An operation on rows of a model. */
export interface RowWork {
  readonly model: ModelClass;
  readonly operation: Endpoint;
}

/** A route, as far as settings of its requests depend on it. */
export interface SettingsRoute {
  /** Null where the controller has no resource. */
  readonly plan: ResourcePlan | null;
  /** `City.update`, or class and method. */
  readonly operation: string;
  /** Null for a route of the user's. */
  readonly verb: RouteSpec['verb'] | null;
  /** The operations on rows that it does by itself; none for a route of the user's. */
  readonly works: readonly RowWork[];
  /** True where code of the user's takes part in it. */
  readonly isAmbient: boolean;
}

/** Names and texts of settings of PostgreSQL, for the transactions of a request. It refuses the request by throwing. */
export type SettingsFinder = (request: Request) => Maybe<readonly (readonly [name: string, value: string])[]>;

/** Finds them for the requests of a route; null where these have none. */
export type RouteSettings = (route: SettingsRoute) => SettingsFinder | null;
