/** The story of a request to a generated route, compiled at the start: parse, run, shape, commit, send. */

import type { Request, Response } from 'express';
import type { Action, ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { checkSentNames } from '../access/reference-access.js';
import type { Endpoint } from '../declare/crud-options.js';
import { noteOperation, operationChannel } from '../diagnostics/channels.js';
import type { ActionRunner } from '../express/resources/controller-metadata.js';
import type { Resource } from '../express/resources/resource.js';
import type { ResultShaper } from '../express/resources/result-shaper.js';
import type { AnswerDraft } from '../operation/feature.js';
import type { RouteSpec } from '../operation/route-spec.js';
import { currentSession } from '../postgres/index.js';
import type { RequestArguments, RequestParser } from '../request/parse-request.js';
import type { Inclusion } from '../request/query/list-query.js';
import { existingSessions } from '../request/request-sessions.js';
import { checkJson, JsonAnswer, jsonReplacer, leaveTagOut, writesPlainJson } from '../respond/json-answer.js';
import { isPromise } from '../util/promises.js';
import { type Around, type AroundFinder, compileAround, type Execute } from './around.js';
import { type ConditionCheck, compileConditionCheck } from './check-condition.js';
import { commitRequest, operationSession, type RunInSession } from './commit-request.js';
import type { RouteDecisions } from './decide-route.js';
import { isEmbeddedByRows, withRelations } from './embed.js';
import type { Outcome } from './outcome.js';
import { withState } from './read-state.js';
import { compileRaceRunner, type RaceRunner } from './rerun-after-race.js';
import { compileMethod } from './run-method.js';
import { type AloneTarget, compileAloneTarget, type RowRunner, sessionTarget } from './run-rows.js';
import { compileShape, isUnshaped, type Shape } from './shape-answer.js';

/** Work of a route, compiled at the start. */
export interface RouteWork<I extends RequestArguments = RequestArguments> {
  /** The instance that its records are of. */
  readonly sequelize: Sequelize | undefined;
  readonly aloneTarget: AloneTarget;
  readonly verb: RouteSpec['verb'];
  readonly views: Resource['views'];
  /** Null where decorators of the user's read the parameters. */
  readonly parse: ((request: Request) => I | Promise<I>) | null;
  /** For what asks once more what a request wants. */
  readonly parseOnce: (request: Request) => I | Promise<I>;
  readonly rows: RowRunner<I> | null;
  /** Runs it elsewhere; null where the method has answered by itself. */
  runMethod(action: Action, input: I | null, params: readonly unknown[]): Promise<Outcome | null>;
  readonly shape: Shape;
  /** @param isWhole whether all that the request does has to happen together */
  sessionFor(isWhole: boolean): RunInSession;
  /** For what another path than our SQL writes under a condition of the request's. */
  readonly checkCondition: ConditionCheck | null;
  /** For a write that two requests may race for; null for all others. */
  readonly runInRace: RaceRunner | null;
  /** Finds the work of features around it; null where there is none. */
  readonly findAround: AroundFinder | null;
  /** Looks at what decorators have read past the parser, which refuses it elsewhere; null where there is nothing to look for. */
  readonly check: ((request: Request) => Promise<void>) | null;
}

const RAN_ROWS = Object.freeze({ runner: 'rows' } as const);
const RAN_METHOD = Object.freeze({ runner: 'method' } as const);

/**
 * Compiles what answers a generated route.
 *
 * @param rows runs its SQL; null where only Sequelize can, or a method of the user's decides what runs
 */
export function compileHandler(
  resource: Resource,
  route: RouteSpec,
  decisions: RouteDecisions,
  rows: RowRunner | null,
  shaper: ResultShaper,
): ActionRunner {
  const { operation, verb } = route;
  const { plan, views, access } = resource;
  const { isDecorated, settings, shapedBy } = decisions;
  const runMethod = withState(resource, route, compileMethod(resource, route, shaper));
  const shape = compileShape(resource, route, shapedBy);
  const checksNames = isDecorated && verb !== 'get' && Boolean(plan.access?.fields.size);
  const work: RouteWork = {
    sequelize: plan.model.sequelize,
    aloneTarget: compileAloneTarget(plan.model.sequelize as Sequelize, settings),
    verb,
    views,
    // They have read their parameters already, and the parser is asked for the others.
    parse: isDecorated ? null : resource.parsers[operation],
    // The body of a write is its own parameters' to read.
    parseOnce: verb === 'get' ? resource.parseOnce[operation] : withoutInputs(resource, operation),
    rows,
    runMethod: (action, input, params) => runMethod(action, input ?? params),
    shape,
    sessionFor: operationSession(resource, route, settings),
    checkCondition: compileConditionCheck(resource, operation),
    runInRace: compileRaceRunner(resource, operation),
    findAround: compileAround(resource, route, shape),
    check: checksNames
      ? async (request) => checkSentNames(request.body, (await access(request, operation)).form)
      : null,
  };
  return answerWith(work, decisions, shaper);
}

/** Facts of a request that has to happen as a whole. */
interface WholeRequest<I extends RequestArguments> {
  /** Null where decorators of the user's read the parameters. */
  readonly input: I | null;
  /** Null where only Sequelize can. */
  readonly ours: RowRunner<I> | null;
  readonly around: Around | null;
  /** True where all writes of the request have to be in one transaction. */
  readonly isWhole: boolean;
  readonly isConditional: boolean;
}

const NO_RELATIONS: readonly Inclusion[] = Object.freeze([]);

/** The story of a request. */
export function answerWith<I extends RequestArguments>(
  {
    sequelize,
    aloneTarget,
    verb,
    views,
    parse,
    parseOnce,
    rows,
    runMethod,
    shape,
    sessionFor,
    checkCondition,
    runInRace,
    findAround,
    check,
  }: RouteWork<I>,
  { answer, isShapedByUser }: Pick<RouteDecisions, 'answer' | 'isShapedByUser'>,
  shaper: ResultShaper,
): ActionRunner {
  const formatFor = (response: Response) => (writesPlainJson(response) ? answer : 'values');
  /** All of it in one session, which is committed or rolled back. */
  const runInSession = (
    metadata: ActionMetadata,
    action: Action,
    params: readonly unknown[],
    { input, ours, around, isWhole, isConditional }: WholeRequest<I>,
  ): Promise<AnswerDraft | null> => {
    const { request, response } = action;
    const execute: Execute = async () => {
      await check?.(request);
      const ran = ours && input && (await ours.run(input, await sessionTarget(sequelize, verb)));
      const write = async () => {
        if (isConditional) await checkCondition?.(action, input);
        return runMethod(action, input, params);
      };
      if (operationChannel.hasSubscribers) noteOperation(request, ran ? RAN_ROWS : RAN_METHOD);
      const found = ran ?? (await (runInRace ? runInRace(action, input, write) : write()));
      if (!found) return null;
      const wanted = input ?? (await parseOnce(request));
      const { include: related } = wanted.query;
      const outcome = related?.length
        ? await withRelations(found, related, {
            request,
            on: await sessionTarget(sequelize, verb),
            atOnce: 1,
            views,
          })
        : found;
      const made = shape(outcome, wanted, formatFor(response), action);
      if (existingSessions(request)?.hasWrites && typeof made.body === 'object')
        checkJson(made.body, response);
      return made;
    };
    const work = around ? () => around.run(execute, formatFor(response)) : execute;
    return commitRequest(metadata, action, sessionFor(isWhole), work);
  };
  return async (metadata, action, params) => {
    const { request, response } = action;
    const parsed = parse?.(request) ?? null;
    const input = isPromise(parsed) ? await parsed : parsed;
    const around = findAround && (await findAround(action, input));
    // A delete answers nothing.
    const isShaped =
      verb !== 'get' && verb !== 'delete' && (isShapedByUser || jsonReplacer(response) !== undefined);
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    const isConditional = checkCondition !== null && (ifMatch ?? ifNoneMatch) !== undefined;

    let ours = input && rows?.isOpen() ? rows : null;
    const include = input?.query.include ?? NO_RELATIONS;
    const isFollowed = ours?.isFollowed ?? false;
    // One statement has all that the features do only where the answer follows from the row alone. A write includes no relations.
    const attempt =
      response.statusCode === 200 && formatFor(response) === 'text' ? around?.attempt : undefined;
    const needsSession =
      isShaped ||
      isFollowed ||
      (around !== null && !attempt) ||
      (include.length > 0 && !isEmbeddedByRows(include, views));
    const on = aloneTarget(request);
    const isOurs = ours !== null && !needsSession && isAlone(sequelize, request);
    const drops = isOurs && ours?.mayDrop?.(on);
    const mayDrop = isPromise(drops) ? await drops : drops === true;
    if (ours && input && isOurs && !mayDrop) {
      const found = await (attempt ? attempt(ours, input, on) : ours.run(input, on));
      if (found) {
        if (operationChannel.hasSubscribers) noteOperation(request, RAN_ROWS);
        const outcome =
          include.length > 0 ? await withRelations(found, include, { request, on, atOnce: 4, views }) : found;
        return send(shape(outcome, input, formatFor(response), action), response, metadata, shaper);
      }
      if (!around) ours = null;
    }
    const isWhole =
      isShaped || isFollowed || isConditional || mayDrop || runInRace !== null || around !== null;
    const draft = await runInSession(metadata, action, params, {
      input,
      ours,
      around,
      isWhole,
      isConditional,
    });
    // routing-controllers takes the response itself for "the method answers itself".
    return draft ? send(draft, response, metadata, shaper) : response;
  };
}

/** Parser of operations without inputs: it reads only the access of a request. */
function withoutInputs({ access, features }: Resource, operation: Endpoint): RequestParser {
  return async (request) => {
    const granted = await access(request, operation);
    return { query: features[operation].absentFor(granted.form), access: granted };
  };
}

/** True where no session of the user's has to see the statements of the request. */
export function isAlone(sequelize: Sequelize | undefined, request: Request): boolean {
  return currentSession(sequelize) === undefined && existingSessions(request) === undefined;
}

/** Hands an answer on, with or without Express's tag of its bytes: a text writes itself, and values go through what else looks at them. */
export function send(
  { status, headers, body }: AnswerDraft,
  response: Response,
  metadata: ActionMetadata,
  shaper: ResultShaper,
  isTagged = true,
): unknown {
  if (typeof body === 'string') return new JsonAnswer(body, status, headers, isTagged);
  if (!isTagged) leaveTagOut(response);
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] as string);
  if (body === undefined) return undefined;
  if (!isUnshaped(body)) shaper.settle(body, metadata);
  return body;
}
