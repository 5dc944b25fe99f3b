/** The operations of a resource. */

/** Those that a resource has where it names none. */
export const OPERATIONS = ['list', 'read', 'create', 'update', 'delete'] as const;

/** All that a resource can have. */
export const ENDPOINTS = [...OPERATIONS, 'restore', 'purge', 'replace'] as const;

/** One of them. */
export type Endpoint = (typeof ENDPOINTS)[number];

/** The endpoints for many records at once, and the endpoint for one of them, whose rules, schema and methods each uses. */
export const SINGLE_OF = { createMany: 'create', updateMany: 'update', deleteMany: 'delete' } as const;

/** One of them. */
export type BulkEndpoint = keyof typeof SINGLE_OF;

/** In the order of their routes. */
export const BULK_ENDPOINTS = Object.keys(SINGLE_OF) as BulkEndpoint[];

/** What the rules of `can` are about: the five operations, and whether soft-deleted records may be seen and used. */
export const RULES = [...OPERATIONS, 'deleted'] as const;

/** One of them. */
export type RuleName = (typeof RULES)[number];

/** The rules that an endpoint asks, all of which must allow it. */
export const RULES_OF: Readonly<Record<Endpoint, readonly RuleName[]>> = {
  list: ['list'],
  read: ['read'],
  create: ['create'],
  update: ['update'],
  delete: ['delete'],
  restore: ['update', 'deleted'],
  purge: ['delete', 'deleted'],
  replace: ['create', 'update'],
};
