/** The story of a request that writes many records: run, shape, commit, send. A dry run is undone before the commit. */

import type { Response } from 'express';
import type { Action, ActionMetadata } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { isRefusal } from '../../errors/database-fault.js';
import { answering } from '../../express/resources/application-access.js';
import { compileAround, type Execute } from '../../handle/around.js';
import { commitRequest, operationSessions } from '../../handle/commit-request.js';
import { isAlone, send } from '../../handle/handle.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import type { Fields, ShownRecords } from '../../handle/outcome.js';
import { compileAloneTarget, sessionTarget } from '../../handle/run-rows.js';
import { compileShape, type Format } from '../../handle/shape-answer.js';
import type { AnswerDraft } from '../../operation/feature.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import type { StatementTarget } from '../../postgres/index.js';
import { requestSessions } from '../../request/request-sessions.js';
import { problemBody } from '../../respond/exception-handler.js';
import { checkJson, jsonReplacer, writesPlainJson } from '../../respond/json-answer.js';
import { shortened } from '../../respond/problem.js';
import { MAX_ISSUES } from '../../schema/request-issue.js';
import type { BulkArguments } from './parse-bulk.js';
import { type BulkResult, compileBulkRunner, mostAffected } from './write-in-turn.js';
import { compileManyRunner, type ManyWritten } from './write-together.js';

/** Answers a request that was read. */
export type BulkHandler = (
  metadata: ActionMetadata,
  action: Action,
  input: BulkArguments,
) => Promise<unknown>;

/**
 * Compiles what answers.
 *
 * @param single the route of one record
 */
export function compileBulkHandler(
  single: RouteSpec,
  { resource, decisions, rows, shaper }: HandlerContext,
): BulkHandler {
  const { answer: form, isShapedByUser, settings } = decisions;
  const { operation } = single;
  const { plan, features } = resource;
  const sequelize = plan.model.sequelize as Sequelize;
  const run = compileBulkRunner(resource, single, rows, shaper);
  const inSession = operationSessions(resource, single, settings).transaction;
  const findAround = compileAround(resource, single, compileShape(resource, single));
  const aloneTarget = compileAloneTarget(sequelize, settings);
  const { status = 200 } = single;
  const write = rows && compileManyRunner(resource, operation);
  /** With one statement; null where nothing was written that way. */
  const writeMany = async (input: BulkArguments, runOn: <T>(work: OnTarget<T>) => Promise<T>) => {
    if (!write || !rows.isOpen() || !input.inputs.isAtomic) return null;
    try {
      return await runOn((on) => write(input, mostAffected(plan, input.inputs), on));
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  };
  const inSavepoint =
    ({ request, response }: Action) =>
    async <T>(work: OnTarget<T>): Promise<T> => {
      const unit = await requestSessions(request, response).unit(sequelize);
      return unit.attempt(async () => work(await sessionTarget(sequelize, single.verb)));
    };
  const formatFor = (response: Response): Format => (writesPlainJson(response) ? form : 'values');
  const shapeMany = ({ request, response }: Action, input: BulkArguments, { shown, count }: ManyWritten) => {
    const format = formatFor(response);
    const { fields } = features[operation].absentFor(input.access.form);
    const items =
      shown && answering(request, () => (format === 'text' ? textsOf(shown, fields) : shown.values(fields)));
    return draftOf(status, items ?? { affected: count }, format);
  };
  const perform = async (action: Action, input: BulkArguments, isTried: boolean): Promise<AnswerDraft> => {
    const { request, response } = action;
    const written = isTried ? null : await writeMany(input, inSavepoint(action));
    if (written) return shapeMany(action, input, written);
    const format = formatFor(response);
    const results = await run(action, input, (outcome, { query: { fields } }): unknown => {
      if (operation === 'delete') return undefined;
      return answering(request, () =>
        format === 'text' ? outcome.writer(fields)(0) : outcome.values(fields)[0],
      );
    });
    if (!input.inputs.isAtomic)
      return draftOf(
        207,
        shortenedTogether(results).map((each) => entryOf(each, status, format)),
        format,
      );
    const items = input.items && results.map(({ item }) => item);
    return draftOf(status, items ?? { affected: results.length }, format);
  };
  // The answer is the state of no resource, so it has no tag.
  const answer = (draft: AnswerDraft, response: Response, metadata: ActionMetadata) =>
    send(draft, response, metadata, shaper, false);
  return async (metadata, action, input) => {
    const { request, response } = action;
    const { isDryRun } = input.inputs;
    const { access } = input;
    // A write that is rolled back leaves nothing of them either.
    const around =
      findAround && !isDryRun
        ? await findAround(action, { access, query: features[operation].absentFor(access.form) })
        : null;
    const isShaped = isShapedByUser || jsonReplacer(response) !== undefined;
    const isTried =
      !isDryRun && !isShaped && !rows?.isFollowed && around === null && isAlone(sequelize, request);
    const written = isTried ? await writeMany(input, (work) => work(aloneTarget(request))) : null;
    if (written) return answer(shapeMany(action, input, written), response, metadata);
    const execute: Execute = async () => {
      const write = () => perform(action, input, isTried);
      const unit = isDryRun ? await requestSessions(request, response).unit(sequelize) : null;
      const made = await (unit ? unit.rehearse(write) : write());
      if (typeof made.body === 'object') checkJson(made.body, response);
      return made;
    };
    const work = around ? () => around.run(execute, formatFor(response)) : execute;
    const draft = await commitRequest(metadata, action, inSession, work);
    return draft ? answer(draft, response, metadata) : response;
  };
}

function textsOf(shown: ShownRecords, fields: Fields): readonly string[] {
  const write = shown.writer(fields);
  return Array.from({ length: shown.size }, (_, index) => write(index));
}

/** Work where statements run; undefined is any connection of the pool. */
type OnTarget<T> = (on: StatementTarget | undefined) => Promise<T>;

/** @param content the items as texts or values, or all of the body */
function draftOf(status: number, content: readonly unknown[] | object, format: Format): AnswerDraft {
  if (!Array.isArray(content)) {
    return { status: 200, headers: {}, body: format === 'text' ? JSON.stringify(content) : content };
  }
  return {
    status,
    headers: {},
    body: format === 'text' ? `{"items":[${content.join()}]}` : { items: content },
  };
}

/** Results whose problems have together as many errors as one answer may have, and each of them one at least. */
function shortenedTogether<T>(results: readonly BulkResult<T>[]): readonly BulkResult<T>[] {
  let left = MAX_ISSUES;
  return results.map((result) => {
    if (!result.problem?.errors) return result;
    const problem = shortened(result.problem, left);
    left -= problem.errors?.length ?? 0;
    return { ...result, problem };
  });
}

function entryOf({ item, problem, key }: BulkResult<unknown>, status: number, format: Format): unknown {
  const head = { status: problem?.status ?? status, ...(key === undefined ? {} : { key }) };
  const tail = problem ? { problem: problemBody(problem) } : null;
  if (format === 'values') return { ...head, ...(tail ?? (item === undefined ? {} : { item })) };
  const text = JSON.stringify({ ...head, ...tail });
  return item === undefined ? text : `${text.slice(0, -1)},"item":${item}}`;
}
