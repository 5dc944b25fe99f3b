/** The story of a request that writes many records: run, shape, commit, send. A dry run is undone before the commit. */
import type { Action, ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import type { AnswerDraft } from '../../operation/feature.js';
import { checkJson, writesPlainJson } from '../answer/json-answer.js';
import type { ResultShaper } from '../answer/result-shaper.js';
import { problemBody } from '../error/exception-handler.js';
import type { BulkArguments } from '../request/parse-bulk.js';
import { requestSessions } from '../request/request-sessions.js';
import { answering } from '../resources/application-access.js';
import type { GeneratedRoute } from '../resources/generated-routes.js';
import type { Resource } from '../resources/resource.js';
import { commitRequest, operationSession } from './commit-request.js';
import { type RouteDecisions, send } from './handle-operation.js';
import { type BulkResult, compileBulkRunner } from './run-bulk.js';
import type { Format } from './shape-answer.js';

/** Answers a request that was read. */
export type BulkHandler = (
  metadata: ActionMetadata,
  action: Action,
  input: BulkArguments,
) => Promise<unknown>;

const STATUSES: Readonly<Record<string, number>> = { create: 201, update: 200, delete: 204 };

/**
 * Compiles what answers.
 *
 * @param single the route of one record
 */
export function compileBulkHandler(
  resource: Resource,
  single: GeneratedRoute,
  { rows, isSeen, settings }: Pick<RouteDecisions, 'rows' | 'isSeen' | 'settings'>,
  shaper: ResultShaper,
): BulkHandler {
  const { operation } = single;
  const sequelize = resource.plan.model.sequelize as Sequelize;
  const run = compileBulkRunner(resource, single, rows, shaper);
  const inSession = operationSession(resource, single, settings)(true);
  const status = STATUSES[operation] ?? 200;
  const perform = async (action: Action, input: BulkArguments): Promise<AnswerDraft> => {
    const { request, response } = action;
    const format: Format = isSeen || !writesPlainJson(response) ? 'values' : 'text';
    const results = await run(action, input, (outcome, { query: { fields } }): unknown => {
      if (operation === 'delete') return undefined;
      const [shown] = answering(request, () =>
        format === 'text' ? outcome.texts(fields) : outcome.values(fields),
      );
      return shown;
    });
    const draft = shape(input, results, status, format);
    if (format === 'values') checkJson(draft.body as object, response);
    return draft;
  };
  return async (metadata, action, input) => {
    const { request, response } = action;
    const draft = await commitRequest(action, inSession, async () => {
      const work = () => perform(action, input);
      if (!input.inputs.isDryRun) return work();
      const unit = await requestSessions(request, response).unit(sequelize);
      return unit.rehearse(work);
    });
    return send(draft, response, metadata, shaper);
  };
}

function shape(
  { inputs, items }: BulkArguments,
  results: readonly BulkResult<unknown>[],
  status: number,
  format: Format,
): AnswerDraft {
  const headers = {};
  if (!inputs.isAtomic) {
    const body = listOf(
      results.map((each) => entryOf(each, status, format)),
      format,
    );
    return { status: 207, headers, body };
  }
  if (!items) {
    const body = { affected: results.length };
    return { status: 200, headers, body: format === 'text' ? JSON.stringify(body) : body };
  }
  return {
    status,
    headers,
    body: listOf(
      results.map(({ item }) => item),
      format,
    ),
  };
}

/** @param items texts, or values */
function listOf(items: readonly unknown[], format: Format): unknown {
  return format === 'text' ? `{"items":[${items.join()}]}` : { items };
}

function entryOf({ item, problem, key }: BulkResult<unknown>, status: number, format: Format): unknown {
  const head = { status: problem?.status ?? status, ...(key === undefined ? {} : { key }) };
  const tail = problem ? { problem: problemBody(problem) } : null;
  if (format === 'values') return { ...head, ...(tail ?? (item === undefined ? {} : { item })) };
  const text = JSON.stringify({ ...head, ...tail });
  return item === undefined ? text : `${text.slice(0, -1)},"item":${item}}`;
}
