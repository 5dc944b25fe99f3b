/** The features of a resource -> what each of its endpoints does with a request, decided once at the start. */
import type { Request } from 'express';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { ENDPOINTS, type Endpoint } from '../declare/crud-options.js';
import type { RuleName } from '../declare/endpoint.js';
import { parameterIssues, parseQueryString } from '../request/query/query-string.js';
import { InvalidQueryError } from '../schema/request-issue.js';
import { type Access, type AccessForm, perForm } from './access.js';
import { compileOperation, type OperationMaker } from './compile-operation.js';
import type {
  Feature,
  FeatureContext,
  FeatureFactory,
  HeaderDescription,
  Input,
  Inputs,
  Presenter,
  Reading,
} from './feature.js';
import type { ProblemStatus } from './problem-status.js';

/** Results of the rules that are evaluated before the inputs of a request are read. */
export interface Asked {
  /** Access of the request to the rows behind a relation. */
  readonly related: Reading['related'];
  /** The rules of inputs that allow it. */
  readonly allowed: ReadonlySet<RuleName>;
}

/** For a request that names neither relations nor inputs with a rule. */
export const NOTHING_ASKED: Asked = Object.freeze<Asked>({
  related({ relation: { parent, name } }) {
    throw new TypeError(`Nothing has asked what the request may see of ${parent.name}.${name}.`);
  },
  allowed: new Set<RuleName>(),
});

/** The features of one endpoint. What is not there takes no part in a request. */
export interface EndpointFeatures {
  /** In the order of the document. */
  readonly inputs: readonly Input[];
  readonly problems: readonly ProblemStatus[];
  /** The headers of an answer that succeeds. */
  readonly headers: Readonly<Record<string, HeaderDescription>>;
  /** Inputs of a request that names none; the same object for the same form. */
  absentFor(form: AccessForm): Inputs;
  /**
   * Reads the query string of a request target.
   *
   * @param others names that other code reads
   * @param asked what rules have said of what it names
   * @throws InvalidQueryError naming each wrong parameter, what it got and what it accepts
   */
  readQuery(target: string, access: Access, others?: readonly string[], asked?: Asked): Inputs;
  /** Adds what the headers say. @throws InvalidQueryError */
  readHeaders(request: Request, inputs: Inputs, access: Access, id?: unknown): Inputs;
  /** The operation that a request executes, where our SQL can execute it. */
  readonly operation: OperationMaker;
  /** Adds to an answer; null where no feature does. */
  readonly present: Presenter | null;
}

/** The features of a resource, by endpoint. */
export type ResourceFeatures = Readonly<Record<Endpoint, EndpointFeatures>>;

/** Makes the features of a resource. */
export function compileFeatures(
  context: FeatureContext,
  factories: readonly FeatureFactory[],
): ResourceFeatures {
  const features = factories.flatMap((make) => make(context) ?? []);
  const entries = ENDPOINTS.map((endpoint) => [endpoint, compileEndpoint(context, features, endpoint)]);
  return Object.freeze(Object.fromEntries(entries)) as ResourceFeatures;
}

/** Compiles the operations alone, for code that has no request: inputs that are not given change nothing. */
export function compileOperations(
  context: FeatureContext,
  factories: readonly FeatureFactory[],
): Readonly<Record<Endpoint, OperationMaker>> {
  const features = factories.flatMap((make) => make(context) ?? []);
  const absent = () => NO_INPUTS;
  const entries = ENDPOINTS.map((endpoint) => [
    endpoint,
    compileOperation(context, features, endpoint, absent),
  ]);
  return Object.freeze(Object.fromEntries(entries)) as Readonly<Record<Endpoint, OperationMaker>>;
}

/** Inputs of a call that names none. */
export const NO_INPUTS: Inputs = Object.freeze({});

function compileEndpoint(
  context: FeatureContext,
  features: readonly Feature[],
  endpoint: Endpoint,
): EndpointFeatures {
  const inputs = features
    .flatMap((feature) => feature.inputs ?? [])
    .filter(({ endpoints }) => endpoints.includes(endpoint));
  const constants = features.flatMap((feature) => feature.constants?.[endpoint] ?? []);
  const absentFor = perForm((form) => absentInputs(inputs, constants, form));
  return Object.freeze({
    inputs,
    problems: features.flatMap(({ problems }) => problems?.[endpoint] ?? []),
    headers: Object.assign({}, ...features.map(({ headers }) => headers?.[endpoint])),
    absentFor,
    readQuery: queryReader(
      context.plan,
      inputs.filter((input) => input.in === 'query'),
      absentFor,
    ),
    readHeaders: compileHeaderReader(inputs.filter((input) => input.in === 'header')),
    operation: compileOperation(context, features, endpoint, absentFor),
    present: presenter(features.flatMap(({ present }) => present?.[endpoint] ?? [])),
  });
}

/** Reads a query string that has these parameters alone; an unknown one is wrong, whatever the resource says. */
export function compileQueryReader(
  plan: ResourcePlan,
  inputs: readonly Input[],
): EndpointFeatures['readQuery'] {
  const absentFor = perForm((form) => absentInputs(inputs, [], form));
  return queryReader({ ...plan, unknownQuery: 'reject' }, inputs, absentFor);
}

function absentInputs(
  inputs: readonly Input[],
  constants: readonly ((form: AccessForm) => Inputs)[],
  form: AccessForm,
): Inputs {
  const values = inputs.flatMap((input) => {
    const absent = input.absentFor ? input.absentFor(form) : input.absent;
    return absent === undefined ? [] : { [memberOf(input)]: absent };
  });
  return Object.freeze(Object.assign({}, ...constants.map((of) => of(form)), ...values));
}

function queryReader(
  plan: ResourcePlan,
  inputs: readonly Input[],
  absentFor: EndpointFeatures['absentFor'],
): EndpointFeatures['readQuery'] {
  const known = inputs.filter(({ rule }) => rule === undefined);
  const usual = { names: known.map(({ name }) => name), read: inputReader(known) };
  const allowedBy = (allowed: Asked['allowed']): typeof usual => {
    const some = inputs.filter(({ rule }) => rule === undefined || allowed.has(rule));
    return { names: some.map(({ name }) => name), read: inputReader(some) };
  };
  return (target, access, others = [], { related, allowed } = NOTHING_ASKED) => {
    const { names, read } = allowed.size === 0 ? usual : allowedBy(allowed);
    // Parameters that both read are parsed here, too.
    const skipped = others.filter((name) => !names.includes(name));
    const query = parseQueryString(target, skipped);
    const { parameters, issues } = query;
    const absent = absentFor(access.form);
    if (parameters.size === 0 && issues.length === 0) return absent;
    return read({
      textOf: (name) => parameters.get(name),
      inputs: absent,
      issues: parameterIssues(plan, query, skipped.length > 0 ? [...names, ...skipped] : names),
      access,
      related,
    });
  };
}

/** Adds what headers say to inputs. */
export function compileHeaderReader(inputs: readonly Input[]): EndpointFeatures['readHeaders'] {
  if (inputs.length === 0) return (_request, before) => before;
  const read = inputReader(inputs);
  return (request, before, access, id) => {
    const isGiven = (name: string) => request.get(name) !== undefined;
    let isAnyGiven = false;
    for (const { name, missing } of inputs) {
      if (isGiven(name)) isAnyGiven = true;
      else missing?.(isGiven);
    }
    return isAnyGiven
      ? read({
          textOf: (name) => request.get(name),
          inputs: before,
          issues: [],
          access,
          id,
          related: NOTHING_ASKED.related,
        })
      : before;
  };
}

/** Reads inputs that are given, on top of others; everything that is wrong is told at once. */
function inputReader(inputs: readonly Input[]) {
  const inTurn = [...inputs].sort((first, second) => (first.turn ?? 0) - (second.turn ?? 0));
  return ({ textOf, inputs: before, issues, access, related, id }: Reading): Inputs => {
    const found: Record<string, unknown> = { ...before };
    const reading: Reading = { textOf, inputs: found, issues, access, related, id };
    for (const input of inTurn) {
      const text = textOf(input.name);
      if (text === undefined) continue;
      const value = input.read(text, reading);
      if (value !== undefined) found[memberOf(input)] = value;
    }
    if (issues.length > 0) throw new InvalidQueryError(issues);
    return Object.freeze(found);
  };
}

function memberOf({ member, name }: Input): string {
  return member ?? name;
}

function presenter(steps: readonly Presenter[]): Presenter | null {
  if (steps.length === 0) return null;
  return (draft, result, request) => steps.reduce((before, step) => step(before, result, request), draft);
}
