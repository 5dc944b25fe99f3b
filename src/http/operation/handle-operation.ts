/** The story of a request to a generated route, compiled at the start: parse, run, shape, commit, send. */
import type { Request, Response } from 'express';
import type { ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { Endpoint } from '../../metadata/crud-options.js';
import type { AnswerDraft } from '../../operation/feature.js';
import { currentSession } from '../../persistence/session/session.js';
import { checkJson, JsonAnswer, jsonReplacer, writesPlainJson } from '../answer/json-answer.js';
import type { ResultShaper } from '../answer/result-shaper.js';
import type { RequestParser } from '../request/parse-request.js';
import { existingSessions } from '../request/request-sessions.js';
import { checkSentNames } from '../request/scoped-values.js';
import type { ActionRunner } from '../resources/controller-metadata.js';
import type { GeneratedRoute } from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';
import { commitRequest, operationSession } from './commit-request.js';
import type { PathSettings } from './decide-route.js';
import { isEmbeddedByRows, withRelations } from './embed.js';
import { compileMethod } from './run-method.js';
import { aloneTarget, type RowRunner, sessionTarget } from './run-rows.js';
import { compileShape } from './shape-answer.js';

/** What is decided about a route at the start. */
export interface RouteDecisions {
  /** Runs our SQL; null where only Sequelize can, or a method of the user's decides what runs. */
  readonly rows: RowRunner | null;
  /** Whether code of the user's is given the answer as values. */
  readonly isSeen: boolean;
  /** Whether code of the user's takes part in what records look like. */
  readonly isShapedByUser: boolean;
  /** Whether decorators of the user's read parameters of the method. */
  readonly isDecorated: boolean;
  readonly settings: PathSettings;
}

/** Compiles what answers a generated route. */
export function compileHandler(
  resource: Resource,
  route: GeneratedRoute,
  { rows, isSeen, isShapedByUser, isDecorated, settings }: RouteDecisions,
  shaper: ResultShaper,
): ActionRunner {
  const { operation, verb } = route;
  const { views } = resource;
  const { sequelize } = resource.plan.model;
  const parse = resource.parsers[operation];
  // The body of a write is its own parameters' to read.
  const parseOnce = verb === 'get' ? resource.parseOnce[operation] : withoutInputs(resource, operation);
  const runMethod = compileMethod(resource, route, shaper);
  const shape = compileShape(resource, operation);
  const sessionFor = operationSession(resource, route, settings);
  const formatFor = (response: Response) => (isSeen || !writesPlainJson(response) ? 'values' : 'text');

  // The parser refuses them elsewhere.
  const checksNames = isDecorated && verb !== 'get' && Boolean(resource.plan.access?.fields.size);

  return async (metadata, action, params) => {
    const { request, response } = action;
    // Decorators of the user's have read their parameters already, and the parser is asked for the others.
    const input = isDecorated ? null : await parse(request);
    const isShaped = verb !== 'get' && (isShapedByUser || jsonReplacer(response) !== undefined);

    let ours = input && rows?.isOpen() ? rows : null;
    const include = input?.query.include ?? [];
    const needsSession = isShaped || !isEmbeddedByRows(include, views);
    if (ours && input && !needsSession && isAlone(sequelize, request)) {
      const on = aloneTarget(sequelize, request);
      const found = await ours.run(input, on);
      if (found) {
        const outcome =
          include.length > 0 ? await withRelations(found, include, { request, on, atOnce: 4, views }) : found;
        return send(shape(outcome, input, formatFor(response), action), response, metadata, shaper);
      }
      ours = null;
    }

    const draft = await commitRequest(action, sessionFor(isShaped), async () => {
      if (checksNames) checkSentNames(request.body, (await resource.access(request, operation)).form);
      const ran = ours && input && (await ours.run(input, await sessionTarget(sequelize, verb)));
      const found = ran ?? (await runMethod(action, input ?? params));
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
    });
    // What routing-controllers takes for "the method answers itself".
    return draft ? send(draft, response, metadata, shaper) : response;
  };
}

/** What is known of a request without a look at it. */
function withoutInputs({ access, features }: Resource, operation: Endpoint): RequestParser {
  return async (request) => {
    const granted = await access(request, operation);
    return { query: features[operation].absentFor(granted.form), access: granted };
  };
}

/** Whether no session of the user's has to see what the request does. */
function isAlone(sequelize: Sequelize | undefined, request: Request): boolean {
  return currentSession(sequelize) === undefined && existingSessions(request) === undefined;
}

/** Hands an answer on: a text writes itself, and values go through what else looks at them. */
export function send(
  { status, headers, body }: AnswerDraft,
  response: Response,
  metadata: ActionMetadata,
  shaper: ResultShaper,
): unknown {
  if (typeof body === 'string') return new JsonAnswer(body, status, headers);
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] as string);
  if (body === undefined) return undefined;
  shaper.settle(body, metadata);
  return body;
}
