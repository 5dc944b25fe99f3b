/** Options of access to rows and attributes. Nothing is checked or computed here. */
import type { Request } from 'express';
import type { Model } from 'sequelize';
import type { Attribute } from './attributes.js';
import type { RowRuleName, RuleName } from './endpoint.js';
import type { FilterTemplate } from './filter-template.js';

/**
 * A function of the request. Declared as a method, so that its parameter may be the application's own request type, such as
 * one with a `user`.
 */
type OfRequest<T> = { ask(request: Request): T | Promise<T> }['ask'];

/**
 * Value that a rule of `scope` or `visible`, or of `can` for `update`, `delete` and `links`, returns to allow all rows. No other value means "no condition".
 *
 * @example
 * ```ts
 * scope: { tenantId: ({ user }) => (user.isOperator ? EVERYTHING : user.tenantId) }
 * ```
 */
export const EVERYTHING: unique symbol = Symbol('EVERYTHING');

/** Rule of a request: a function of the request, or `true` for all requests, or `false` for none. */
export type AccessRule = boolean | OfRequest<boolean>;

/**
 * Rule of the requests that change rows: as `AccessRule`, or the condition that the row must meet. Where a request sees a row that does not
 * meet it, the answer is 403. `EVERYTHING` allows all rows.
 *
 * @example
 * ```ts
 * can: { update: (request) => filter`ownerId==${request.user.id}` }
 * ```
 */
export type RowRule = boolean | OfRequest<boolean | FilterTemplate | typeof EVERYTHING | null | undefined>;

/** Rules of operations, by name. */
export type OperationRules = { readonly [O in RuleName]?: O extends RowRuleName ? RowRule : AccessRule };

/** A value that the server sets. Undefined refuses the request with 403, and so does null where the attribute cannot be null. */
export type SetValue = OfRequest<unknown>;

/** Rule of an attribute that the server sets: the value of new rows, or the value and the writes that get it. */
export type SetRule = SetValue | { readonly value: SetValue; readonly on: 'create' | 'update' | 'both' };

/** A value of an attribute that rows are scoped by. */
export type ScopeValue = string | number | bigint | boolean | Date;

/** The value that rows must have, or any of several, or `EVERYTHING`. Null and undefined refuse the request with 403. */
export type ScopeRule = OfRequest<ScopeValue | readonly ScopeValue[] | typeof EVERYTHING | null | undefined>;

/** The condition that rows must meet, or `EVERYTHING`. Null and undefined refuse the request with 403. */
export type VisibleRule = OfRequest<FilterTemplate | typeof EVERYTHING | null | undefined>;

/** The values that rows must have, by attribute. */
export type Scope<M extends Model = Model> = { readonly [A in Attribute<M>]?: ScopeRule };

/**
 * Rules for reading and writing one attribute. An operation without a rule is allowed. Only `true` allows; an error of
 * a rule is the answer of the request.
 *
 * @example
 * ```ts
 * fields: { salary: { read: isHr, write: isHr }, status: { create: false, update: isStaff } }
 * ```
 */
export interface FieldRules {
  /**
   * Where it is refused, the attribute is absent from answers, and unknown to `fields`, `sort` and `q`. `include` has no
   * relation by it. The same holds for records in answers of other routes. `response.json()` cannot wait for a rule that returns a
   * promise, and leaves the attribute out. Records that code of the application reads have the attribute, and values that its getters
   * make of it leave. Default: true.
   */
  readonly read?: AccessRule;
  /**
   * Sets `create` and `update`. Where it is refused, a body with the attribute is answered with 422. Code of the
   * application may write it all the same. Default: true.
   */
  readonly write?: AccessRule;
  /** The same for creates. A row that needs a value gets it from its default, a hook or an override, or is answered with 422. */
  readonly create?: AccessRule;
  /** The same for updates. */
  readonly update?: AccessRule;
}

/** The row security of PostgreSQL: the settings that its policies read, for each request. */
export interface RowSecurityOptions {
  /**
   * The settings of a request, by name, as texts. A name has a dot, as PostgreSQL requires. Evaluated once for each request, after
   * `dependencies` and before the body is read. Null and undefined, for all or for one, refuse the request with 403; another
   * name or value is answered with 500, and no value is logged.
   */
  readonly settings: OfRequest<Readonly<Record<string, string | null | undefined>> | null | undefined>;
}

/** Rules of access to the rows and attributes of a resource. */
export interface AccessOptions<M extends Model = Model> {
  /**
   * The values that rows must have to be seen and written, evaluated once for each request, after `dependencies` and before the body
   * is read. Other rows are missing, from lists, totals and cursors too. New rows get the value; bodies do not have the
   * attribute, and hooks, setters and defaults do not change it. A foreign key to this model names a row inside, else the answer is the
   * 409 of a missing row. Sequelize's own methods, such as `findAll` in an override, do not apply it: use `context.repository`.
   * Default: that of `bootstrap`, for attributes it names.
   *
   * @example
   * ```ts
   * scope: { tenantId: (request) => request.user.tenantId }   // null or undefined: 403; EVERYTHING: all rows
   * ```
   */
  scope?: Scope<M>;
  /**
   * A condition that rows must meet to be seen and written, beside `scope`. Default: none.
   *
   * @example
   * ```ts
   * visible: (request) => filter`public==true,ownerId==${request.user.id}`
   * ```
   */
  visible?: VisibleRule;
  /**
   * Rules of operations. A request that a rule refuses is answered with 403, before the body is read. Default: those of `bootstrap`;
   * operations that neither names are open to all requests, unless `bootstrap` has `deny: true`. `restore` needs the rules of
   * `update` and `deleted`, `purge` those of `delete` and `deleted`, and `replace` those of `create` and `update`, or of
   * `update` alone where the server makes the key; `upsert` needs those of `create` and `update`. Requests for many records need those for one, and
   * with `q` also `list`. `aggregate`, `export`, `changes` and `import` are about routes that options make; where they are not named, `list` is for
   * the first three, and `create` for the last. `links` is about the links of a record; where it is not named, `update` is. A history needs the rules of `read` and `history`, a revert those of `update` and `history`. `update`, `delete` and `links` may return a `filter`: a condition of the statement that writes, whose rows alone may be changed.
   * A visible row that does not meet it is a 403. Where `deleted` is named and allows the
   * request, lists and reads take `?deleted=only` and `?deleted=with`; else the parameter is unknown. The rule is
   * evaluated where the parameter is there.
   *
   * @example
   * ```ts
   * can: { create: isStaff, update: (request) => filter`ownerId==${request.user.id}`, delete: isAdmin, list: true }
   * ```
   */
  can?: OperationRules;
  /**
   * Values that the server sets: a function of the request for new rows, or `{ value, on }` for `'create'`, `'update'` or `'both'`.
   * The attributes leave the bodies: a body with one is answered with 422. Hooks and validations see the value, and a foreign key
   * names a row that the request sees. The function is called once for a request, before the body is read. Undefined, and null for an attribute that
   * cannot be null, refuse the request with 403. A value that a body could not have is answered with 500, and the log names the rule. A change without a value
   * of the client's writes nothing. Default: none.
   *
   * @example
   * ```ts
   * set: { authorId: (request) => request.user.id, editedBy: { on: 'update', value: (request) => request.user.id } }
   * ```
   */
  set?: { readonly [A in Attribute<M>]?: SetRule };
  /**
   * Rules of attributes. Default: an operation that is allowed may read and write all of them.
   *
   * @example { salary: { read: isHr, write: isHr }, status: { update: isStaff } }
   */
  fields?: { readonly [A in Attribute<M>]?: FieldRules };
}
