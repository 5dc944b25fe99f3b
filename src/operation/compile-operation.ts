/** The features of a resource -> the operation of each request, most of which is made once at the start. */
import { baseOf, type Endpoint } from '../declare/endpoint.js';
import { BoundedCache, perPair } from '../util/memo.js';
import { without } from '../util/without.js';
import { type Access, type AccessForm, OPEN_ACCESS, withGiven } from './access.js';
import type { ByEndpoint, Feature, FeatureContext, Inputs, OperationByEndpoint } from './feature.js';
import type { Operation, Selection } from './operation.js';
import { byKey } from './predicates.js';

/** Values of a body, by attribute. */
export type WrittenValues = Readonly<Record<string, unknown>>;

/** Makes the operation of a request, with the slot `id` where the endpoint has one. */
export type OperationMaker = (inputs: Inputs, access: Access, values?: WrittenValues) => Operation;

/** Change of an operation by a feature; `ByEndpoint` has the types for each endpoint. */
type Change = (operation: Operation, inputs: Inputs, access: Access) => Operation;

/** The part of a feature for an endpoint: its own, or that of its base. */
export function partFor<P extends ByEndpoint<unknown>>(
  parts: P | undefined,
  endpoint: Endpoint,
): P[Endpoint] | undefined {
  return parts?.[endpoint] ?? parts?.[baseOf(endpoint)];
}

/** Compiles the operations of an endpoint. Parts that inputs do not change are the same objects each time. */
export function compileOperation(
  context: FeatureContext,
  features: readonly Feature[],
  endpoint: Endpoint,
  absentFor: (form: AccessForm) => Inputs,
): OperationMaker {
  const stepsOf = (kind: 'prepare' | 'rewrite') =>
    features.flatMap((feature) => (partFor(feature[kind], endpoint) as Change | undefined) ?? []);
  const rewrites = stepsOf('rewrite');
  const give = compileGiven(context.plan.info.address.map(({ name }) => name));
  const absent = absentFor(OPEN_ACCESS.form);
  const apply = (steps: readonly Change[], before: Operation, inputs: Inputs, access: Access): Operation => {
    let operation = before;
    for (const change of steps) operation = change(operation, inputs, access);
    return operation;
  };
  const bare = partFor(bareOperations(context), endpoint) as Operation;
  const followed = features.some(({ afterWrite }) => afterWrite) ? withKey(bare, context) : bare;
  const prepared = apply(stepsOf('prepare'), followed, absent, OPEN_ACCESS);
  const usual = Object.freeze(apply(rewrites, prepared, absent, OPEN_ACCESS));
  const usualOf = new WeakMap<AccessForm, Operation>([[OPEN_ACCESS.form, usual]]);
  // Such a row gets values of its request.
  const isOfNewRow = baseOf(endpoint) === 'create' || baseOf(endpoint) === 'replace';
  return (inputs, access, values) => {
    const { form } = access;
    const isUsual =
      inputs === absentFor(form) && access.where === form.where && access.allowed === null && !isOfNewRow;
    let operation = isUsual ? usualOf.get(form) : undefined;
    if (operation === undefined) {
      const given = isOfNewRow ? give(prepared, access, values) : prepared;
      operation = apply(rewrites, given, inputs, access);
      if (isUsual) usualOf.set(form, Object.freeze(operation));
    }
    return endpoint === 'update' ? give(operation, access, values) : operation;
  };
}

/** A write that returns the primary key, also where answers do not show it. */
function withKey(operation: Operation, { plan }: FeatureContext): Operation {
  if (!('returning' in operation)) return operation;
  const columns = [
    ...new Set([...operation.returning.columns, ...plan.info.primaryKey.map(({ name }) => name)]),
  ];
  return { ...operation, returning: Object.freeze({ columns: Object.freeze(columns) }) };
}

/** An operation with the values of a body, and the references of these. */
function compileGiven(key: readonly string[]) {
  return (operation: Operation, access: Access, values: WrittenValues = {}): Operation => {
    const { references, form } = access;
    const guards = references.length > 0 ? { references } : null;
    const hidden = form.unreadable.size > 0 ? { unseen: form.unreadable } : null;
    const whole = (sent: WrittenValues, kind: 'create' | 'update') =>
      form.given.size === 0 ? sent : withGiven(sent, access, kind);
    switch (operation.kind) {
      case 'insert':
        return { ...operation, row: whole(values, 'create'), ...guards };
      case 'replace': {
        const row = whole(values, 'create');
        const set = whole(without(values, key), 'update');
        return { ...operation, row, set, ...guards, ...hidden };
      }
      case 'update':
        return { ...operation, set: whole(values, 'update'), ...guards, ...hidden };
      default:
        return operation;
    }
  };
}

/** Operations of the endpoints before any feature adds to them. */
function bareOperations({ plan, columnsOf }: FeatureContext): Partial<OperationByEndpoint> {
  const { info, defaultSort, pageSize } = plan;
  const where = byKey(info.address);
  const whole: Selection = Object.freeze({ columns: columnsOf(null) });
  return {
    list: {
      kind: 'list',
      where: null,
      select: whole,
      order: defaultSort,
      window: { kind: 'offset', page: 1, size: pageSize.default },
      count: 'none',
    },
    read: { kind: 'read', where, select: whole },
    create: { kind: 'insert', row: {}, returning: whole },
    update: { kind: 'update', where, set: {}, returning: whole },
    delete: { kind: 'delete', where, mark: null },
    replace: { kind: 'replace', where, row: {}, set: {}, only: null, returning: whole },
  };
}

/** Adds columns that answers do not show. The result is the same object for the same selection and names, so that texts are found in the cache. */
export function compileAlso(): (select: Selection, names: readonly string[]) => Selection {
  const cacheOf = perPair((_select: Selection) => new BoundedCache<Selection>());
  return (select, names) => {
    return cacheOf(select).get(names.join('\0'), () => {
      const columns = Object.freeze([...new Set([...select.columns, ...names])]);
      return columns.length === select.columns.length ? select : Object.freeze({ columns });
    });
  };
}

/** The columns that an operation returns. */
export function columnsGiven(operation: Operation): readonly string[] {
  if (operation.kind === 'delete') return [];
  return 'select' in operation ? operation.select.columns : operation.returning.columns;
}
