/** The features of a resource -> the operation of each request, most of which is made once at the start. */
import type { Endpoint } from '../metadata/crud-options.js';
import type { Feature, FeatureContext, Inputs, OperationByEndpoint } from './feature.js';
import type { Operation, Selection } from './operation.js';
import { equalTo } from './predicates.js';

/** Values of a body, by attribute. */
export type WrittenValues = Readonly<Record<string, unknown>>;

/** Makes the operation of a request, with the slot `id` where the endpoint has one. */
export type OperationMaker = (inputs: Inputs, values?: WrittenValues) => Operation;

/** One step of a feature; that it fits the endpoint is what `ByEndpoint` says. */
type Step = (operation: Operation, inputs: Inputs) => Operation;

/** Compiles the operations of an endpoint. What inputs do not change is the same object each time. */
export function compileOperation(
  context: FeatureContext,
  features: readonly Feature[],
  endpoint: Endpoint,
  absent: Inputs,
): OperationMaker {
  const stepsOf = (kind: 'prepare' | 'rewrite') =>
    features.flatMap((feature) => (feature[kind]?.[endpoint] as Step | undefined) ?? []);
  const apply = (steps: readonly Step[], operation: Operation, inputs: Inputs): Operation =>
    steps.reduce((before, step) => step(before, inputs), operation);
  const rewrites = stepsOf('rewrite');
  const prepared = apply(stepsOf('prepare'), bareOperations(context)[endpoint], absent);
  const usual = Object.freeze(apply(rewrites, prepared, absent));
  return (inputs, values = {}) => {
    const operation = inputs === absent ? usual : apply(rewrites, prepared, inputs);
    if (operation.kind === 'insert') return { ...operation, rows: [values] };
    return operation.kind === 'update' ? { ...operation, set: values } : operation;
  };
}

/** What endpoints do without any feature. */
function bareOperations({ plan, columnsOf }: FeatureContext): OperationByEndpoint {
  const { info, defaultSort, pageSize } = plan;
  const where = equalTo(info.primaryKey.name, { slot: 'id' });
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
    create: { kind: 'insert', rows: [], returning: whole },
    update: { kind: 'update', where, set: {}, returning: whole },
    delete: { kind: 'delete', where, mark: null },
  };
}
