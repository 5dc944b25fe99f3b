/** The operations of a resource. */

/** The five operations a resource can have. */
export const OPERATIONS = ['list', 'read', 'create', 'update', 'delete'] as const;

/** One of `list`, `read`, `create`, `update`, `delete`. */
export type Endpoint = (typeof OPERATIONS)[number];
