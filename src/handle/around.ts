/** Work around operations, in the transaction that they write in: a feature's own statements, or an answer in the place of the operation. */
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { Endpoint } from '../declare/endpoint.js';
import type { Resource } from '../express/resources/resource.js';
import type { AnswerDraft, Feature } from '../operation/feature.js';
import type { RouteSpec } from '../operation/route-spec.js';
import type { StatementTarget } from '../postgres/index.js';
import type { RequestArguments } from '../request/parse-request.js';
import { type Completion, type CompletionPlace, completionOf, type Outcome } from './outcome.js';
import { type RowRunner, sessionTarget } from './run-rows.js';
import type { Format, Shape } from './shape-answer.js';

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
  /** Executes the operation, or answers in its place. In the session of the operation, which commits when this resolves. */
  run(next: Execute, format: Format): Promise<AnswerDraft | null>;
}

/** Finds the work around a request; null where there is none. The input is null where decorators of the user's read the parameters. */
export type AroundFinder = (action: Action, input: RequestArguments | null) => Promise<Around | null>;

/** Compiles the work of a feature around the operations of a route; null where it has none. */
export type AroundFactory = (resource: Resource, route: RouteSpec, shape: Shape) => AroundFinder | null;

/** A feature with work around operations, or behind them. */
export interface ActingFeature extends Feature {
  readonly around?: AroundFactory;
  readonly completion?: (resource: Resource, endpoint: Endpoint) => Completion | null;
}

/** The request of an outcome, and the session that it is completed in. */
interface SessionPlace extends Pick<CompletionPlace, 'request'> {
  readonly sequelize: Sequelize | undefined;
  readonly verb: RouteSpec['verb'];
}

/** Compiles what features add to the records of an endpoint. */
export function compileCompletions(resource: Resource, endpoint: Endpoint): readonly Completion[] {
  const features: readonly ActingFeature[] = resource.features.all;
  return features.flatMap(({ completion }) => completion?.(resource, endpoint) ?? []);
}

/** Adds to an outcome what features add to its records, on the connection of the session that the running code has. */
export async function completeInSession(
  completions: readonly Completion[],
  found: Outcome,
  input: RequestArguments,
  { request, sequelize, verb }: SessionPlace,
): Promise<Outcome> {
  const completion = completionOf(completions, input);
  if (!completion) return found;
  return completion.complete(found, input, { request, on: await sessionTarget(sequelize, verb), atOnce: 1 });
}

/** Compiles the work of all features around the operations of a route. The first one is the outermost. */
export function compileAround(resource: Resource, route: RouteSpec, shape: Shape): AroundFinder | null {
  const features: readonly ActingFeature[] = resource.features.all;
  const finders = features.flatMap(({ around }) => around?.(resource, route, shape) ?? []);
  const [only] = finders;
  if (finders.length <= 1) return only ?? null;
  return async (action, input) => {
    const found: Around[] = [];
    for (const find of finders) found.push(...[await find(action, input)].flatMap((each) => each ?? []));
    if (found.length <= 1) return found[0] ?? null;
    const run: Around['run'] = (next, format) =>
      found.reduceRight<Execute>((inner, each) => () => each.run(inner, format), next)();
    return { run };
  };
}
