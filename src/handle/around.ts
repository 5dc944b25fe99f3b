/** Work around operations, in the transaction that they write in: a feature's own statements, or an answer in the place of the operation. */
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { Endpoint } from '../declare/endpoint.js';
import type { Resource } from '../express/resources/resource.js';
import type { ResultShaper } from '../express/resources/result-shaper.js';
import type { AnswerDraft, Feature } from '../operation/feature.js';
import type { RowWork } from '../operation/route-settings.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { StatementTarget } from '../postgres/index.js';
import type { RequestArguments } from '../request/parse-request.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { Maybe } from '../util/promises.js';
import { type Completion, type CompletionPlace, completionOf, type Outcome } from './outcome.js';
import type { MethodRunner } from './run-method.js';
import { type RowRunner, sessionTarget } from './run-rows.js';
import type { Format, Shape, ShapedBy } from './shape-answer.js';

/** Executes an operation and shapes its answer; null where the method has answered by itself. */
export type Execute = () => Promise<AnswerDraft | null>;

/** Work around the operation of one request. */
export interface Around {
  /**
   * Executes a write of one row and the feature's own part in one statement, outside of a session.
   *
   * @returns null where that is left to `run`, and nothing was done
   */
  attempt?<I extends RequestArguments>(
    rows: RowRunner<I>,
    input: I,
    on?: StatementTarget,
  ): Promise<Outcome | null>;
  /** Adds to the answer of the statement that `attempt` has executed. Default: nothing. */
  present?(draft: AnswerDraft): AnswerDraft;
  /** Executes the operation, or answers in its place. In the session of the operation, which commits when this resolves. */
  run(next: Execute, format: Format): Promise<AnswerDraft | null>;
}

/** Finds the work around a request; null where there is none. The input is null where decorators of the user's read the parameters. */
export interface AroundFinder {
  (action: Action, input: RequestArguments | null): Promise<Around | null>;
  /** The header without which a request has no work around, in small letters. Default: any request may have some. */
  readonly header?: string;
}

/** Puts work of a feature around the method that writes a record: that of a controller, or of a repository. */
export type AroundMethod = (resource: Resource, endpoint: Endpoint, runMethod: MethodRunner) => MethodRunner;

/** Parts of a route that shape its answers. */
export interface AroundContext {
  readonly shape: Shape;
  readonly shapedBy: ShapedBy;
  readonly shaper: ResultShaper;
}

/** Compiles the work of a feature around the operations of a route; null where it has none. */
type AroundFactory = (resource: Resource, route: RouteSpec, context: AroundContext) => AroundFinder | null;

/** Finds the work of all features around a request that has one of these headers. */
export interface AnyAround {
  readonly find: (action: Action, input: RequestArguments | null) => Promise<Around | null>;
  /** Null where any request may have some. */
  readonly headers: readonly string[] | null;
}

/** A member that a feature adds to records in the list under another one. */
export interface MemberBelow {
  readonly name: string;
  readonly schema: JsonSchema;
  /** The attribute of the records by which it is found. */
  readonly attribute: string;
  /** @param parent the resource of the other record */
  compile(parent: Resource): Completion['complete'];
}

/** A feature with work around operations, or behind them. */
export interface ActingFeature extends Feature {
  readonly around?: AroundFactory;
  /** Not called where our SQL writes the record. */
  readonly aroundMethod?: AroundMethod;
  readonly completion?: (resource: Resource, endpoint: Endpoint) => Completion | null;
  /** @param relation of the resource, that has a list under each record */
  readonly memberBelow?: (relation: string) => MemberBelow | null;
  /** The operations on rows of other models that a route of the resource may do as well. */
  readonly works?: (route: RouteSpec) => readonly RowWork[];
}

/** The operations on rows that a route may do. */
export function worksOf({ plan: { model }, features }: Resource, route: RouteSpec): readonly RowWork[] {
  const all: readonly ActingFeature[] = features.all;
  return [{ model, operation: route.operation }, ...all.flatMap(({ works }) => works?.(route) ?? [])];
}

/** The members that features add to the records of a list under a record. */
export function membersBelow(
  { features }: Pick<Resource, 'features'>,
  relation: string,
): readonly MemberBelow[] {
  const all: readonly ActingFeature[] = features.all;
  return all.flatMap(({ memberBelow }) => memberBelow?.(relation) ?? []);
}

interface SessionPlace extends Pick<CompletionPlace, 'request'> {
  readonly sequelize: Sequelize | undefined;
  readonly verb: RouteSpec['verb'];
}

/** Compiles the additions of features to the records of an endpoint. */
export function compileCompletions(resource: Resource, endpoint: Endpoint): readonly Completion[] {
  const features: readonly ActingFeature[] = resource.features.all;
  return features.flatMap(({ completion }) => completion?.(resource, endpoint) ?? []);
}

/** Adds the values of features to the records of an outcome, on the connection of the session that the running code has. */
export function completeInSession(
  completions: readonly Completion[],
  found: Outcome,
  input: RequestArguments,
  { request, sequelize, verb }: SessionPlace,
): Maybe<Outcome> {
  const completion = completionOf(completions, input);
  if (!completion) return found;
  return sessionTarget(sequelize, verb).then((on) =>
    completion.complete(found, input, { request, on, atOnce: 1 }),
  );
}

/** Compiles the work of all features around the operations of a route; null where there is none. The first one is the outermost. */
export function compileAround(
  resource: Resource,
  route: RouteSpec,
  context: AroundContext,
): AnyAround | null {
  const features: readonly ActingFeature[] = resource.features.all;
  const finders = features.flatMap(({ around }) => around?.(resource, route, context) ?? []);
  if (finders.length === 0) return null;
  const headers = finders.flatMap(({ header }) => header ?? []);
  return {
    headers: headers.length === finders.length ? Object.freeze(headers) : null,
    async find(action, input) {
      const sent = action.request.headers;
      const found: Around[] = [];
      for (const find of finders) {
        const each =
          find.header === undefined || sent[find.header] !== undefined ? await find(action, input) : null;
        if (each) found.push(each);
      }
      if (found.length <= 1) return found[0] ?? null;
      const run: Around['run'] = (next, format) =>
        found.reduceRight<Execute>((inner, each) => () => each.run(inner, format), next)();
      return { run };
    },
  };
}
