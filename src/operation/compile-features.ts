/** The features of a resource -> the work of each of its endpoints, decided once at the start. */
import type { Request } from 'express';
import type { ResourcePlan } from '../compile/resource-plan.js';
import { baseOf, ENDPOINTS, type Endpoint, isWrite, type RuleName } from '../declare/endpoint.js';
import type { Filter } from '../request/query/predicate.js';
import { parameterIssues, parseQueryString } from '../request/query/query-string.js';
import { InvalidQueryError } from '../schema/request-issue.js';
import { type Access, type AccessForm, perForm } from './access.js';
import type { BodyForms } from './body-forms.js';
import type { BodyMembers } from './body-members.js';
import { compileOperation, type OperationMaker, partFor } from './compile-operation.js';
import {
  type AfterWrite,
  type Feature,
  type FeatureContext,
  type FeatureFactory,
  type HeaderDescription,
  type Input,
  type Inputs,
  type MediaType,
  type OptionCompiler,
  PLACES,
  type Presenter,
  type Reading,
} from './feature.js';
import { allOf } from './predicates.js';
import type { ProblemStatus } from './refused-request-error.js';
import { openRelation } from './related-rows.js';

/** Results of the rules that are evaluated before the inputs of a request are read. */
export interface Asked {
  /** Access of the request to the rows behind a relation. */
  readonly related: Reading['related'];
  /** The rules of inputs that allow it. */
  readonly allowed: ReadonlySet<RuleName>;
}

/** Results of a request that names neither relations nor inputs with rules. */
export const NOTHING_ASKED: Asked = Object.freeze<Asked>({
  related(plan) {
    const access = openRelation(plan);
    if (access) return access;
    const { parent, name } = plan.relation;
    throw new TypeError(`Nothing has asked what the request may see of ${parent.name}.${name}.`);
  },
  allowed: new Set<RuleName>(),
});

/** Inputs of requests, and their readers. */
export interface InputReaders {
  /** Inputs, in the order of the document. */
  readonly inputs: readonly Input[];
  /** Inputs of a request that names none; the same object for the same form. */
  absentFor(form: AccessForm): Inputs;
  /**
   * Reads the query string of a request target.
   *
   * @param others names that other code reads
   * @param asked results of the rules of the names in it
   * @throws InvalidQueryError naming each wrong parameter, its value and the accepted values
   */
  readQuery(target: string, access: Access, others?: readonly string[], asked?: Asked): Inputs;
  /** Adds the inputs of headers. @throws InvalidQueryError */
  readHeaders(request: Request, inputs: Inputs, access: Access, id?: unknown): Inputs;
}

/** The features of one endpoint. Others take no part in a request. */
interface EndpointFeatures extends InputReaders {
  readonly problems: readonly ProblemStatus[];
  /** Changes of a body before it is parsed. */
  readonly prepareBody: readonly ((request: Request, form: AccessForm, body: unknown) => unknown)[];
  /** Forms of values in a body; null where all have that of their column. */
  readonly forms: BodyForms | null;
  /** Members of a body that are no attributes. */
  readonly bodyMembers: readonly BodyMembers[];
  /** Descriptions of other answers that succeed, with the record, by status. */
  readonly records: Readonly<Record<number, string>>;
  /** The headers of an answer that succeeds. */
  readonly headers: Readonly<Record<string, HeaderDescription>>;
  /** Values of the inputs that choose the rows of a list, for its cursors. */
  digest(inputs: Inputs, access: Access): readonly unknown[];
  /** The operation that a request executes, where our SQL can execute it. */
  readonly operation: OperationMaker;
  /** Adds to an answer; null where no feature does. */
  readonly present: Presenter | null;
  /** True where the same state of a row may have several answers; null where it has one. */
  readonly varies: ((inputs: Inputs) => boolean) | null;
  /** Other forms of the answer than JSON. */
  readonly media: readonly MediaType[];
  /** Work after a write, in its transaction; null where no feature has any. */
  readonly afterWrite: AfterWrite | null;
}

/** The features of a resource, by endpoint. */
export interface ResourceFeatures extends Readonly<Record<Endpoint, EndpointFeatures>> {
  /** All features, in the order of the document. */
  readonly all: readonly Feature[];
  /**
   * The inputs of a route that is about the rows of a list: those of the list's with one of the names, and its own. Others of the list's are
   * as in a request without them, so that `list.operation` has all.
   *
   * @param own with members that no input of the list has
   */
  listInputs(names: readonly string[], own?: readonly Input[]): InputReaders;
}

/** Makes the features of a resource. */
export function compileFeatures(
  context: FeatureContext,
  factories: readonly FeatureFactory[],
): ResourceFeatures {
  const features = factories.flatMap((make) => make(context) ?? []);
  const entries = ENDPOINTS.map((endpoint) => [endpoint, compileEndpoint(context, features, endpoint)]);
  const listInputs: ResourceFeatures['listInputs'] = (names, own = []) => {
    const all = inputsOf(features, 'list');
    const chosen = all.filter(({ name }) => names.includes(name));
    return compileReaders(context, features, 'list', [...chosen, ...own], [...all, ...own]);
  };
  return Object.freeze({ ...Object.fromEntries(entries), all: features, listInputs }) as ResourceFeatures;
}

/** Compiles the operations alone, for code that has no request: missing inputs change nothing. */
export function compileOperations(
  context: FeatureContext,
  factories: readonly FeatureFactory[],
): Readonly<Record<Endpoint, OperationMaker>> {
  const features = factories.flatMap((make) => make(context) ?? []);
  const compile = (endpoint: Endpoint) => compileOperation(context, features, endpoint, () => NO_INPUTS);
  const entries = ENDPOINTS.map((endpoint) => [endpoint, compile(endpoint)]);
  return Object.freeze(Object.fromEntries(entries)) as Readonly<Record<Endpoint, OperationMaker>>;
}

/** Compiles the options of `bootstrap` that features declare. Problems are added to the others. */
export function compileFeatureOptions(
  factories: readonly FeatureFactory[],
  given: object,
  problems: string[],
): Readonly<Record<string, unknown>> {
  const report = (problem: string): void => void problems.push(problem);
  const values: Readonly<Record<string, unknown>> = { ...given };
  const compilers = Object.entries(Object.assign({}, ...factories.map(({ options }) => options)) as object);
  return Object.freeze(
    Object.fromEntries(
      compilers
        .filter(([name]) => name in values)
        .map(([name, compile]) => [name, (compile as OptionCompiler)(values[name], report)]),
    ),
  );
}

/** Options of `@Crud` that features declare, and their checks. */
export function resourceOptionsOf(factories: readonly FeatureFactory[]) {
  return {
    featureOptions: Object.assign({}, ...factories.map(({ resourceOptions }) => resourceOptions)),
    featureChecks: factories.flatMap(({ check }) => check ?? []),
    featureLists: factories.flatMap(({ listsBelow }) => listsBelow ?? []),
    featureRelations: factories.flatMap(({ relate }) => relate ?? []),
  };
}

/** Inputs of a call that names none. */
export const NO_INPUTS: Inputs = Object.freeze({});

function compileEndpoint(
  context: FeatureContext,
  features: readonly Feature[],
  endpoint: Endpoint,
): EndpointFeatures {
  const rows = endpoint === 'list' ? rowsOf(features) : ANY_ROWS;
  const readers = compileReaders(context, features, endpoint, inputsOf(features, endpoint));
  return Object.freeze({
    ...readers,
    prepareBody: features.flatMap(({ prepareBody }) => partFor(prepareBody, endpoint) ?? []),
    forms: features.flatMap(({ forms }) => partFor(forms, endpoint) ?? [])[0] ?? null,
    bodyMembers: features.flatMap(({ bodyMembers }) => bodyMembers?.[endpoint] ?? []),
    problems: features.flatMap(({ problems }) => partFor(problems, endpoint) ?? []),
    records: Object.assign({}, ...features.map(({ records }) => partFor(records, endpoint))),
    headers: Object.assign({}, ...features.map(({ headers }) => partFor(headers, endpoint))),
    digest: rows.digest,
    operation: compileOperation(context, features, endpoint, readers.absentFor),
    present: presenter(features.flatMap(({ present }) => partFor(present, endpoint) ?? [])),
    varies: anyOf(features.flatMap(({ varies }) => varies ?? [])),
    media: endpoint === 'list' ? features.flatMap(({ media }) => media ?? []) : [],
    afterWrite: isWrite(endpoint)
      ? oneAfterAnother(features.flatMap(({ afterWrite }) => afterWrite ?? []))
      : null,
  });
}

function inputsOf(features: readonly Feature[], endpoint: Endpoint): readonly Input[] {
  return features
    .flatMap((feature) => feature.inputs ?? [])
    .filter(({ endpoints }) => endpoints.includes(endpoint) || endpoints.includes(baseOf(endpoint)));
}

/** @param all inputs whose values a request without them has, in the place of `inputs` */
function compileReaders(
  { plan }: FeatureContext,
  features: readonly Feature[],
  endpoint: Endpoint,
  inputs: readonly Input[],
  all = inputs,
): InputReaders {
  const constants = features.flatMap((feature) => partFor(feature.constants, endpoint) ?? []);
  const rows = endpoint === 'list' ? rowsOf(features) : ANY_ROWS;
  const absentFor = perForm((form) => rows.narrow(absentInputs(all, constants, form)));
  const inQuery = inputs.filter((input) => input.in === 'query');
  return Object.freeze({
    inputs,
    absentFor,
    readQuery: queryReader(plan, inQuery, absentFor, rows, hintsOf(features, endpoint)),
    readHeaders: compileHeaderReader(inputs.filter((input) => input.in === 'header')),
  });
}

function hintsOf(features: readonly Feature[], endpoint: Endpoint): Feature['hints'] {
  return endpoint === 'list' ? Object.assign({}, ...features.map(({ hints }) => hints)) : {};
}

interface ListedRows {
  /** Adds the conditions of features to the filter. */
  narrow(inputs: Inputs): Inputs;
  digest(inputs: Inputs, access: Access): readonly unknown[];
}

const ANY_ROWS: ListedRows = { narrow: (inputs) => inputs, digest: () => [] };

function rowsOf(features: readonly Feature[]): ListedRows {
  const conditions = features.filter(({ condition }) => condition);
  const digests = features.filter(({ digest }) => digest);
  return {
    narrow(inputs) {
      const found: Filter[] = [];
      for (const feature of conditions) {
        const condition = feature.condition?.(inputs);
        if (condition) found.push(condition);
      }
      if (found.length === 0) return inputs;
      return Object.freeze({ ...inputs, filter: allOf(inputs.filter ?? null, ...found) as Filter });
    },
    digest(inputs, access) {
      const parts: unknown[] = [];
      for (const feature of digests) {
        const part = feature.digest?.(inputs, access);
        if (part !== undefined) parts.push(part);
      }
      return parts;
    },
  };
}

/** Reads a query string that has these parameters alone; an unknown one is wrong, also where the resource ignores unknown ones. */
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
  rows = ANY_ROWS,
  hints: Feature['hints'] = {},
): EndpointFeatures['readQuery'] {
  const readerOf = (form: AccessForm, allowed = NOTHING_ASKED.allowed) => {
    const some = inputs.filter(
      ({ rule, isFor }) => (rule === undefined || allowed.has(rule)) && (isFor?.(form) ?? true),
    );
    return { names: some.map(({ name }) => name), read: inputReader(some, rows) };
  };
  const usualOf = perForm((form) => readerOf(form));
  return (target, access, others = [], { related, allowed } = NOTHING_ASKED) => {
    if (!target.includes('?')) return absentFor(access.form);
    const { names, read } = allowed.size === 0 ? usualOf(access.form) : readerOf(access.form, allowed);
    // Parameters that both read are parsed here, too.
    const skipped = others.filter((name) => !names.includes(name));
    const query = parseQueryString(target, skipped);
    const { parameters, issues } = query;
    const absent = absentFor(access.form);
    if (parameters.size === 0 && issues.length === 0) return absent;
    return read({
      textOf: (name) => parameters.get(name),
      inputs: absent,
      issues: parameterIssues(plan, query, skipped.length > 0 ? [...names, ...skipped] : names, hints),
      access,
      related,
      digest: NO_DIGEST,
    });
  };
}

const NO_DIGEST = () => [];

/** Adds the values of headers to inputs. */
export function compileHeaderReader(inputs: readonly Input[]): EndpointFeatures['readHeaders'] {
  if (inputs.length === 0) return (_request, before) => before;
  const read = inputReader(inputs);
  // `request.get` would make each name small again.
  const named = inputs.map(({ name, missing }) => ({ header: name.toLowerCase(), missing }));
  return (request, before, access, id) => {
    const { headers } = request;
    let isAnyGiven = false;
    for (const { header, missing } of named) {
      if (headers[header] !== undefined) isAnyGiven = true;
      else missing?.((name) => request.get(name) !== undefined);
    }
    return isAnyGiven
      ? read({
          textOf: (name) => request.get(name),
          inputs: before,
          issues: [],
          access,
          id,
          related: NOTHING_ASKED.related,
          digest: NO_DIGEST,
        })
      : before;
  };
}

/** Reads the inputs of a request, on top of others; all problems are reported at once. */
function inputReader(inputs: readonly Input[], rows = ANY_ROWS) {
  const inTurn = [...inputs].sort((first, second) => (first.turn ?? 0) - (second.turn ?? 0));
  const early = inTurn.filter(({ turn = 0 }) => turn < PLACES);
  const late = inTurn.filter((each) => !early.includes(each));
  const takes = (name: string) => inputs.some((input) => input.name === name);
  const readAll = (some: readonly Input[], known: Inputs, request: Omit<Reading, 'takes'>): Inputs => {
    const { textOf, access, id, related, issues } = request;
    const found: Record<string, unknown> = { ...known };
    const digest = () => rows.digest(found, access);
    // Each member by itself: a copy with one more costs several times as much.
    const reading: Reading = { textOf, access, id, related, issues, takes, inputs: found, digest };
    for (const input of some) {
      const text = textOf(input.name);
      if (text === undefined) continue;
      const value = input.read(text, reading);
      if (value !== undefined) found[memberOf(input)] = value;
    }
    return found;
  };
  return (request: Omit<Reading, 'takes'>): Inputs => {
    const { textOf, issues } = request;
    const asked = rows.narrow(readAll(early, request.inputs, request));
    const whole = late.some(({ name }) => textOf(name) !== undefined) ? readAll(late, asked, request) : asked;
    if (issues.length > 0) throw new InvalidQueryError(issues);
    return Object.freeze(whole);
  };
}

function memberOf({ member, name }: Input): string {
  return member ?? name;
}

function oneAfterAnother(steps: readonly AfterWrite[]): AfterWrite | null {
  if (steps.length === 0) return null;
  return async (written, statements) => {
    for (const step of steps) await step(written, statements);
  };
}

function anyOf(tests: readonly NonNullable<Feature['varies']>[]): EndpointFeatures['varies'] {
  return tests.length === 0 ? null : (inputs) => tests.some((test) => test(inputs));
}

function presenter(steps: readonly Presenter[]): Presenter | null {
  if (steps.length === 0) return null;
  return (draft, result, request) => steps.reduce((before, step) => step(before, result, request), draft);
}
