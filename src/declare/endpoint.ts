/** The operations of a resource. */

/** Endpoints of a resource that names none. */
export const OPERATIONS = ['list', 'read', 'create', 'update', 'delete'] as const;

/** All that a resource can have. */
export const ENDPOINTS = [...OPERATIONS, 'restore', 'purge', 'replace', 'upsert'] as const;

/** Name of an endpoint. */
export type Endpoint = (typeof ENDPOINTS)[number];

const BASES: Readonly<Partial<Record<Endpoint, Endpoint>>> = {
  restore: 'update',
  purge: 'delete',
  upsert: 'replace',
};

/** The endpoint whose work an endpoint does to other rows, or itself. It has all that features do to that one, unless they name it. */
export function baseOf(endpoint: Endpoint): Endpoint {
  return BASES[endpoint] ?? endpoint;
}

/** The endpoints for many records at once, and the endpoint for one of them, whose rules, schema and methods each uses. */
export const SINGLE_OF = { createMany: 'create', updateMany: 'update', deleteMany: 'delete' } as const;

/** Name of an endpoint for many records. */
export type BulkEndpoint = keyof typeof SINGLE_OF;

/** In the order of their routes. */
export const BULK_ENDPOINTS = Object.keys(SINGLE_OF) as BulkEndpoint[];

/** The endpoints about the past of a record, each with the endpoint whose schema and methods it uses. */
export const PAST_OF = { history: 'read', revert: 'update' } as const;

/** Name of an endpoint about the past of a record. */
export type PastEndpoint = keyof typeof PAST_OF;

/** In the order of their routes. */
export const PAST_ENDPOINTS = Object.keys(PAST_OF) as PastEndpoint[];

const SINGLES: Readonly<Partial<Record<string, Endpoint>>> = { ...SINGLE_OF, ...PAST_OF };

/** The endpoint for one record whose schema and methods an endpoint uses. */
export function singleOf(endpoint: Endpoint | BulkEndpoint | PastEndpoint): Endpoint {
  return SINGLES[endpoint] ?? (endpoint as Endpoint);
}

const WRITES: Readonly<Partial<Record<RuledWork, readonly ('create' | 'update')[]>>> = {
  create: ['create'],
  update: ['update'],
  revert: ['update'],
  replace: ['create', 'update'],
  upsert: ['create', 'update'],
};

/** The writes of values of a request's that an endpoint may do. */
export function writesOf(endpoint: RuledWork | null): readonly ('create' | 'update')[] {
  return WRITES[endpoint ?? 'list'] ?? [];
}

/** A write of rows, as PostgreSQL sees it: one that only marks them changes them. */
export type TableWrite = 'insert' | 'update' | 'delete';

const TABLE_WRITES: Readonly<Partial<Record<Endpoint, readonly TableWrite[]>>> = {
  create: ['insert'],
  update: ['update'],
  replace: ['insert', 'update'],
  delete: ['delete'],
};

/** The writes of rows that an endpoint may do. @param isMarked true where a delete only marks the row */
export function tableWritesOf(endpoint: Endpoint, isMarked: boolean): readonly TableWrite[] {
  return TABLE_WRITES[endpoint === 'delete' && isMarked ? 'update' : baseOf(endpoint)] ?? [];
}

/** Work that an option of its name makes a route for, each with the rule of `can` that holds where its own is not named. */
export const OPTION_ROUTES = {
  aggregate: 'list',
  export: 'list',
  import: 'create',
  changes: 'list',
  links: 'update',
} as const;

/** Name of such an option, of its route and of its rule. */
export type OptionRoute = keyof typeof OPTION_ROUTES;

/** Routes of options, in the order of their rules. */
export const OPTION_ROUTE_NAMES = Object.keys(OPTION_ROUTES) as OptionRoute[];

/** Options that an endpoint of their name switches on, too. */
export const SWITCHED_ROUTES = ['changes'] as const satisfies readonly OptionRoute[];

/** Work that rules are about. */
export type RuledWork = Endpoint | PastEndpoint | OptionRoute;

const READS: readonly RuledWork[] = ['list', 'read', 'history', 'aggregate', 'export', 'changes'];

/** True for work that changes rows, or creates them. */
export function isWrite(work: RuledWork | null): boolean {
  return work !== null && !READS.includes(work);
}

/** Names of the rules of `can`: the five operations, the use of deleted records and of the past, and the routes that options make. */
export const RULES = [...OPERATIONS, 'deleted', 'history', ...OPTION_ROUTE_NAMES] as const;

/** Name of a rule of `can`. */
export type RuleName = (typeof RULES)[number];

/** The rules that may return a condition on rows. */
export const ROW_RULE_NAMES = ['update', 'delete', 'links'] as const;

/** Name of a rule that may return a condition on rows. */
export type RowRuleName = (typeof ROW_RULE_NAMES)[number];

/** The rules of an endpoint, or of an option's route, all of which must allow it. */
export const RULES_OF: Readonly<Record<RuledWork, readonly RuleName[]>> = {
  list: ['list'],
  read: ['read'],
  create: ['create'],
  update: ['update'],
  delete: ['delete'],
  restore: ['update', 'deleted'],
  purge: ['delete', 'deleted'],
  history: ['read', 'history'],
  revert: ['update', 'history'],
  replace: ['create', 'update'],
  aggregate: ['aggregate'],
  export: ['export'],
  import: ['import'],
  changes: ['changes'],
  links: ['links'],
  upsert: ['create', 'update'],
};

/** Verbs of the work whose name is none, for texts of errors. */
const VERBS: Readonly<Partial<Record<RuledWork, string>>> = {
  history: 'read the history of',
  changes: 'read the changes of',
  links: 'change the links of',
};

/** The verb of a work: `update`. */
export function verbOf(work: RuledWork): string {
  return VERBS[work] ?? work;
}
