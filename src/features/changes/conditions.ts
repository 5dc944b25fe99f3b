/** A request -> what it may see of a feed: the conditions of its list, over the images of rows. */
import { hash } from 'node:crypto';
import type { Request } from 'express';
import { requestSettings } from '../../access/row-security.js';
import type { Resource } from '../../express/resources/resource.js';
import type { ListOperation } from '../../operation/operation.js';
import { allOf, isOuterValue, scopedRows } from '../../operation/predicates.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Predicate } from '../../request/query/predicate.js';
import { InvalidQueryError } from '../../schema/request-issue.js';
import { excludedAttributes } from '../capture/capture-options.js';
import type { Condition } from './judge.js';

/** A condition, and the part of cursors that identifies it. */
export interface AskedCondition {
  readonly condition: Condition;
  readonly digest: readonly unknown[];
}

/** Numbers of resources: two applications may serve a model, each by rules of its own. */
const numbers = new WeakMap<Resource, number>();
let count = 0;

/** The condition of a request. */
export function conditionOf(
  resource: Resource,
  { query, access }: RequestArguments,
  request: Request,
): AskedCondition {
  const { plan, features } = resource;
  const { where } = features.list.operation(query, access) as ListOperation;
  checkStored(resource, query.filter ?? null, access.where);
  const settings = requestSettings(request);
  const digest = [plan.name, ...features.list.digest(query, access), [...access.form.unreadable].sort()];
  const number = numbers.get(resource) ?? ++count;
  numbers.set(resource, number);
  const key = hash('sha256', JSON.stringify([number, digest, settings?.key ?? null], named), 'hex');
  const condition = {
    key,
    resource,
    where: allOf(where, scopedRows(plan.info)),
    slots: access.slots,
    form: access.form,
    settings,
  };
  return { condition, digest };
}

/** Another table in a filter, by its name. */
function named(member: string, value: unknown): unknown {
  return member === 'target' ? (value as { readonly name: string }).name : value;
}

/** Refuses what would be judged by values that images do not have: a row with them would count as one without. */
function checkStored({ plan }: Resource, filter: Predicate | null, rules: Predicate | null): void {
  const left = excludedAttributes(plan).map(({ name }) => name);
  if (left.length === 0) return;
  const find = (predicate: Predicate | null) => predicate && left.find((name) => reads(predicate, name));
  const ruled = find(rules);
  if (ruled)
    throw new TypeError(
      `visible of ${plan.name} reads '${ruled}', whose values are not stored with changes; name it in history.keep.`,
    );
  const asked = find(filter);
  if (!asked) return;
  const detail = `The values of '${asked}' are not stored with changes, so that q cannot be about them here.`;
  throw new InvalidQueryError([{ parameter: 'q', code: 'changes.not-stored', detail }]);
}

/** True where a condition reads an attribute of the row itself. */
function reads(predicate: Predicate, name: string): boolean {
  switch (predicate.kind) {
    case 'comparison':
      return predicate.attribute === name || predicate.attribute.startsWith(`${name}.`);
    case 'sql':
      return predicate.parts.some((part) => isOuterValue(part) && part.attribute === name);
    case 'exists':
      return isOuterValue(predicate.value) && predicate.value.attribute === name;
    case 'written':
      return false;
    default:
      return predicate.operands.some((each) => reads(each, name));
  }
}
