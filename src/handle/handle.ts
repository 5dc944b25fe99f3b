/** The story of a request: parse, plan, run, shape, commit, send. Each kind of route is compiled into one at its first request. */

import type { Request, Response } from 'express';
import type { Action, ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { Endpoint } from '../declare/endpoint.js';
import { noteOperation, operationChannel } from '../diagnostics/channels.js';
import { hasAccessRules } from '../express/resources/application-access.js';
import type { ActionRunner } from '../express/resources/controller-metadata.js';
import type { Resource } from '../express/resources/resource.js';
import type { ResultShaper } from '../express/resources/result-shaper.js';
import type { Access } from '../operation/access.js';
import { countOfList } from '../operation/count.js';
import type { AnswerDraft } from '../operation/feature.js';
import type { RouteSpec } from '../operation/route-spec.js';
import { currentSession, readServers, type StatementTarget } from '../postgres/index.js';
import type { RequestArguments, RequestParser } from '../request/parse-request.js';
import { existingSessions } from '../request/request-sessions.js';
import { checkJson, JsonAnswer, jsonReplacer, leaveTagOut, writesPlainJson } from '../respond/json-answer.js';
import { bindStream } from '../respond/stream-answer.js';
import { isPromise, type Maybe, then } from '../util/promises.js';
import {
  type AnyAround,
  type Around,
  compileAround,
  compileCompletions,
  completeInSession,
  type Execute,
} from './around.js';
import { compileGuardedMethod, hasCondition } from './around-method.js';
import {
  commitRequest,
  inAddedSession,
  onPath,
  operationSessions,
  type RouteSessions,
  type RunInSession,
} from './commit-request.js';
import type { PathSettings, RouteDecisions } from './decide-route.js';
import { type Completion, completionOf, type Outcome } from './outcome.js';
import type { Controller } from './run-method.js';
import { compileAloneTarget, type RowRunner, sessionTarget } from './run-rows.js';
import { compileShape, type Format, isUnshaped, type Shape } from './shape-answer.js';
import type { PageShaper } from './shape-page.js';

/** Where an operation runs: outside of any session, in the session of its request, or in a transaction of its request. */
type Way = 'alone' | keyof RouteSessions;

/** Arguments of a request; null where they are not parsed before its method. */
type WithAccess = { readonly access: Pick<Access, 'allowed'> } | null;

/** A route, as the story has it. */
export interface Story<I, R> {
  /** Evaluates the rules, and reads the query string, the id and the body. */
  parse(request: Request): Maybe<I>;
  /** Finds the work of features around the operation, of requests with one of the headers; null where there is none. */
  readonly around:
    | (Pick<AnyAround, 'headers'> & { find(action: Action, input: I): Promise<Around | null> })
    | null;
  /** Where statements run that are in no session. */
  aloneTarget(request: Request): StatementTarget;
  plan(action: Action, input: I, around: Around | null, on: StatementTarget): Maybe<Way>;
  /** Executes the operation alone; null where only a session can, and nothing was done. */
  runAlone(action: Action, input: I, around: Around | null, on: StatementTarget): Promise<R | null>;
  shape(result: R, input: I, format: Format, action: Action): AnswerDraft;
  readonly sessions: RouteSessions;
  /** Executes and shapes it in the session of the running code; null where a method has answered by itself. */
  runWithin(action: Action, input: I, params: readonly unknown[]): Promise<AnswerDraft | null>;
  /** False where the answer is the state of no resource. Default: true. */
  readonly isTagged?: boolean;
}

/** The story of a request to a generated route. */
export function answerWith<I extends WithAccess, R>(
  { parse, around: work, aloneTarget, plan, runAlone, shape, sessions, runWithin, isTagged }: Story<I, R>,
  answer: Format,
  shaper: ResultShaper,
): ActionRunner {
  return async (metadata, action, params) => {
    const { request, response } = action;
    const parsed = parse(request);
    const input = isPromise(parsed) ? await parsed : parsed;
    const around = work && isAsked(request, work.headers) ? await work.find(action, input) : null;
    const on = aloneTarget(request);
    const planned = plan(action, input, around, on);
    const way = isPromise(planned) ? await planned : planned;
    const result = way === 'alone' ? await runAlone(action, input, around, on) : null;
    if (result) {
      if (operationChannel.hasSubscribers) noteOperation(request, RAN_ROWS);
      const draft = shape(result, input, formatFor(response, answer), action);
      return send(around?.present?.(draft) ?? draft, response, metadata, shaper, isTagged);
    }
    const session = sessions[way === 'alone' ? sessionFor(request, around, input) : way];
    const execute = () => runWithin(action, input, params);
    const draft = await transact(metadata, action, session, () =>
      around ? around.run(execute, formatFor(response, answer)) : execute(),
    );
    // routing-controllers takes the response itself for "the method answers itself".
    return draft ? send(draft, response, metadata, shaper, isTagged) : response;
  };
}

/** The story of a request to a route that the user wrote. A value that is no page goes back to routing-controllers. */
export function addedRouteHandler(
  controllerFor: (action: Action) => Controller,
  shaper: ResultShaper,
  settings: PathSettings,
  shapePage?: PageShaper,
): ActionRunner {
  const session = onPath(inAddedSession, settings);
  return async (metadata, action, params) => {
    const { request, response } = action;
    shaper.guard(response);
    let shown: unknown;
    const draft = await transact(metadata, action, session, async () => {
      const result = await controllerFor(action)[metadata.method]?.(...params);
      bindStream(result, response);
      if (hasAccessRules(request)) await shaper.ready(result, action);
      const answer = shapePage ? await shapePage(result, action) : { result };
      if ('draft' in answer) return answer.draft;
      shown = shaper.shape(answer.result, metadata, action);
      return null;
    });
    return draft ? send(draft, response, metadata, shaper) : shown;
  };
}

function isAsked({ headers }: Request, names: readonly string[] | null): boolean {
  if (names === null) return true;
  for (const name of names) if (headers[name] !== undefined) return true;
  return false;
}

/** Executes work in a session. Its writes are committed when its answer is shaped, and rolled back where anything throws. */
function transact(
  metadata: ActionMetadata,
  action: Action,
  session: RunInSession,
  work: Execute,
): Promise<AnswerDraft | null> {
  const check = (draft: AnswerDraft | null) => {
    const isWritten = existingSessions(action.request)?.hasWrites === true;
    if (isWritten && typeof draft?.body === 'object') checkJson(draft.body, action.response);
    return draft;
  };
  return commitRequest(metadata, action, session, () => work().then(check));
}

/** Hands an answer on, with or without Express's tag of its bytes: a text writes itself, and values go through the code that reads them. */
function send(
  { status, headers, body }: AnswerDraft,
  response: Response,
  metadata: ActionMetadata,
  shaper: ResultShaper,
  isTagged = true,
): unknown {
  if (typeof body === 'string') return new JsonAnswer(body, status, headers, isTagged);
  // routing-controllers takes nothing for 404 where the action does not say otherwise.
  if (body === undefined && !metadata.undefinedResultCode)
    return new JsonAnswer('', status, headers, isTagged);
  if (!isTagged && body !== undefined) leaveTagOut(response);
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] as string);
  if (body === undefined) return undefined;
  if (!isUnshaped(body)) shaper.settle(body, metadata);
  return body;
}

/** The format of an answer: something may have replaced the methods of a response that write it. */
export function formatFor(response: Response, answer: Format): Format {
  return writesPlainJson(response) ? answer : 'values';
}

/** True where no session of the user's has to see the statements of the request. */
export function isAlone(sequelize: Sequelize | undefined, request: Request): boolean {
  return currentSession(sequelize) === undefined && existingSessions(request) === undefined;
}

/** The session of an operation that does not run alone: work around it, or a check before it, is one transaction with it. */
function sessionFor(request: Request, around: Around | null, input: WithAccess): keyof RouteSessions {
  const isChecked = hasCondition(request) || (input?.access.allowed ?? null) !== null;
  return around !== null || isChecked ? 'transaction' : 'session';
}

const RAN_ROWS = Object.freeze({ runner: 'rows' } as const);
const RAN_METHOD = Object.freeze({ runner: 'method' } as const);

/** An operation of one resource, single or nested. */
export interface RouteOperation<I extends RequestArguments> {
  /** The resource whose sessions it runs in. */
  readonly resource: Resource;
  readonly verb: RouteSpec['verb'];
  /** Null where decorators of the user's read the parameters. */
  readonly parse: ((request: Request) => Maybe<I>) | null;
  /** Arguments of a request whose parameters they have read. */
  readonly parseOnce: (request: Request) => Maybe<I>;
  /** Executes its SQL; null where only Sequelize can, or a method of the user's decides that. */
  readonly rows: RowRunner<I> | null;
  /** Executes it elsewhere; null where the method has answered by itself. */
  runMethod(action: Action, input: I | readonly unknown[]): Promise<Outcome | null>;
  readonly completions: readonly Completion[];
  readonly shape: Shape;
  readonly around: AnyAround | null;
  readonly sessions: RouteSessions;
  /** True where it locks a row before it writes it. Default: false. */
  readonly isLocking?: boolean;
}

/** Compiles the handler of a single or nested operation. */
export function compileOperationHandler<I extends RequestArguments>(
  {
    resource,
    verb,
    parse,
    parseOnce,
    rows,
    runMethod,
    completions,
    shape,
    around,
    sessions,
    isLocking = false,
  }: RouteOperation<I>,
  { answer, isShapedByUser, settings }: Pick<RouteDecisions, 'answer' | 'isShapedByUser' | 'settings'>,
  shaper: ResultShaper,
): ActionRunner {
  const { sequelize } = resource.plan.model;
  // A delete answers nothing.
  const isRecordWritten = verb !== 'get' && verb !== 'delete';
  const isWhole = isLocking || (isRecordWritten && isShapedByUser) || rows?.isFollowed === true;
  /** True where an answer is made of several statements, which several servers would execute. */
  const isOfServers = (input: I): boolean => {
    if (verb !== 'get' || !sequelize || readServers(sequelize) === 1) return false;
    const { query } = input;
    const count = query.kind === undefined ? 'none' : countOfList(query);
    return (count !== 'none' && count !== 0) || completionOf(completions, input) !== null;
  };
  const canBeAlone = (input: I | null, around: Around | null, request: Request, response: Response) => {
    if (!input || !rows?.isOpen() || isOfServers(input)) return false;
    if (around && !isAttempted(around, response, answer)) return false;
    return completionOf(completions, input)?.isOpen(input) !== false && isAlone(sequelize, request);
  };
  // A write is one transaction with all that follows it.
  const isCompleted = (input: I | null) =>
    verb !== 'get' && input !== null && completionOf(completions, input) !== null;
  const story: Story<I | null, Outcome> = {
    parse: parse ?? (() => null),
    around,
    aloneTarget: compileAloneTarget(sequelize as Sequelize, settings, Boolean(rows)),
    plan({ request, response }, input, around, on) {
      if (isWhole || (isRecordWritten && jsonReplacer(response) !== undefined)) return 'transaction';
      if (!canBeAlone(input, around, request, response))
        return isCompleted(input) ? 'transaction' : sessionFor(request, around, input);
      return then(rows?.mayDrop?.(on) ?? false, afterDrops);
    },
    runAlone({ request }, input, around, on) {
      if (!input || !rows) throw new TypeError('Nothing executes this operation alone.');
      const found = around?.attempt ? around.attempt(rows, input, on) : rows.run(input, on);
      const completion = completionOf(completions, input);
      if (!completion) return found;
      const place = { request, on, atOnce: 4 };
      return found.then((outcome) => outcome && completion.complete(outcome, input, place));
    },
    shape: shape as Story<I | null, Outcome>['shape'],
    async runWithin(action, input, params) {
      const { request, response } = action;
      const ran =
        input && rows?.isOpen() ? await rows.run(input, await sessionTarget(sequelize, verb)) : null;
      noteOperation(request, ran ? RAN_ROWS : RAN_METHOD);
      const found = ran ?? (await runMethod(action, input ?? params));
      if (!found) return null;
      const wanted = input ?? (await parseOnce(request));
      const completed = completeInSession(completions, found, wanted, { request, sequelize, verb });
      const outcome = isPromise(completed) ? await completed : completed;
      return shape(outcome, wanted, formatFor(response, answer), action);
    },
    sessions,
    // A record that is removed has no state.
    isTagged: verb !== 'delete',
  };
  return answerWith(story, answer, shaper);
}

function afterDrops(mayDrop: boolean): Way {
  return mayDrop ? 'transaction' : 'alone';
}

/** True where one statement may do the work of a feature, too: the answer has to follow from the row alone. */
function isAttempted({ attempt }: Around, response: Response, answer: Format): boolean {
  return attempt !== undefined && response.statusCode === 200 && formatFor(response, answer) === 'text';
}

/**
 * Compiles the handler of a generated route.
 *
 * @param rows executes its SQL; null where only Sequelize can, or a method of the user's decides that
 */
export function compileHandler(
  resource: Resource,
  route: RouteSpec,
  decisions: RouteDecisions,
  rows: RowRunner | null,
  shaper: ResultShaper,
  parse: RequestParser = resource.parsers[route.parses ?? route.operation],
): ActionRunner {
  const { operation, verb } = route;
  const { isDecorated, settings, shapedBy } = decisions;
  const shape = compileShape(resource, route, shapedBy);
  const work: RouteOperation<RequestArguments> = {
    resource,
    verb,
    // Decorators have read their parameters already, and the parser reads the others.
    parse: isDecorated ? null : parse,
    // The body of a write is its own parameters' to read.
    parseOnce: verb === 'get' ? resource.parseOnce[operation] : withoutInputs(resource, operation),
    rows,
    runMethod: compileGuardedMethod(resource, route, decisions, shaper),
    completions: compileCompletions(resource, operation),
    shape,
    around: compileAround(resource, route, { shape, shapedBy, shaper }),
    sessions: operationSessions(resource, route, settings),
  };
  return compileOperationHandler(work, decisions, shaper);
}

/** Parser of operations without inputs: it reads only the access of a request. */
function withoutInputs({ access, features }: Resource, operation: Endpoint): RequestParser {
  return async (request) => {
    const granted = await access(request, operation);
    return { query: features[operation].absentFor(granted.form), access: granted };
  };
}
