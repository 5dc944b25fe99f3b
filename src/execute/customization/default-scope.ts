/**
 * Effects of a model's default scope on a list. Sequelize merges it into every query, and two parts of it must not be
 * merged: its order comes before the order of the query, and a list of attributes replaces what a query includes.
 */
import type { Model, OrderItem, ProjectionAlias } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { type AppliedScope, scopeOf, withScope } from '../../describe/sequelize-internals.js';

/** The same model without the order, limit and offset of its scope. */
export function withoutScopedOrder<M extends Model>(model: ModelClass<M>): ModelClass<M> {
  const scope = scopeOf(model);
  if (!['order', 'limit', 'offset'].some((key) => key in scope)) return model;
  return withScope(model, { ...scope, order: undefined, limit: undefined, offset: undefined });
}

/** Order of a scope that remains behind a total order: it sorts joined rows within their record. */
export function scopedInnerOrder({ include, order }: AppliedScope): OrderItem[] {
  if (!include || !order) return [];
  return (Array.isArray(order) ? order : [order]) as OrderItem[];
}

/** The `attributes` of a query that selects what it would select anyway, and some more. */
export function withAttributes(
  { attributes }: AppliedScope,
  more: ProjectionAlias[],
): ProjectionAlias[] | { include: ProjectionAlias[] } {
  // Sequelize joins two lists, and two objects; an object in place of a list would select all attributes again.
  return Array.isArray(attributes) ? more : { include: more };
}
