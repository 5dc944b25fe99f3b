/** Handlers of requests that write many records: the story of an operation, with many items. A dry run is undone before the commit. */
import type { Request } from 'express';
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { type BulkEndpoint, baseOf } from '../../declare/endpoint.js';
import { noteOperation } from '../../diagnostics/channels.js';
import { isRefusal } from '../../errors/database-fault.js';
import { retried } from '../../execute/session/savepoint.js';
import { answering } from '../../express/resources/application-access.js';
import { type ActionRunner, isGuarded, lineageOf } from '../../express/resources/controller-metadata.js';
import { CrudController } from '../../express/resources/crud-controller.js';
import { type Around, compileAround, compileCompletions } from '../../handle/around.js';
import { operationSessions } from '../../handle/commit-request.js';
import { answerWith, formatFor, isAlone, type Story } from '../../handle/handle.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import { completionOf, type Fields, type WholeRecords } from '../../handle/outcome.js';
import { compileAloneTarget, sessionTarget } from '../../handle/run-rows.js';
import { compileShape, type Format } from '../../handle/shape-answer.js';
import type { AnswerDraft } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import type { StatementTarget } from '../../postgres/index.js';
import { parseOnce, type RequestArguments } from '../../request/parse-request.js';
import { requestSessions } from '../../request/request-sessions.js';
import { jsonReplacer } from '../../respond/json-answer.js';
import { shortened } from '../../respond/problem.js';
import { itemProblem } from '../../respond/send-problem.js';
import { MAX_ISSUES } from '../../schema/request-issue.js';
import { mostAffected } from './bulk-options.js';
import { type BulkArguments, compileBulkParser, isForMany } from './parse-bulk.js';
import { type BulkResult, compileBulkRunner, type SingleWork } from './write-in-turn.js';
import { compileManyRunner, type ManyRunner, type ManyWritten } from './write-together.js';

interface BulkRoute {
  readonly endpoint: BulkEndpoint;
  readonly single: RouteSpec;
}

/** Compiles the handler of a route for many records alone. */
export function manyHandler({ endpoint, single }: BulkRoute, context: HandlerContext): ActionRunner {
  const { resource } = context;
  const parse = compileBulkParser(resource, endpoint, false);
  const isListGuarded = isGuarded(lineageOf(resource.controller, CrudController), 'list');
  return handleMany(single, context, async (request) => {
    const input = await parse(request);
    // A count by conditions shows as much as a list.
    if (isForMany(input) && input.inputs.filter && isListGuarded) {
      throw new RefusedRequestError(
        403,
        `This request may not find records of ${resource.plan.name} by q; send an array of them.`,
      );
    }
    return input;
  });
}

/** Compiles the handler of a route for one record or many. */
export function joinedHandler(
  { endpoint, single }: BulkRoute,
  context: HandlerContext,
  compileJoined: NonNullable<HandlerContext['compileJoined']>,
): ActionRunner {
  const parse = parseOnce(compileBulkParser(context.resource, endpoint, true));
  // Called for bodies that are no arrays.
  const handleSingle = compileJoined(async (request) => (await parse(request)) as RequestArguments);
  const handle = handleMany(single, context, parse);
  return async (metadata, action, params) => {
    if (!isForMany(await parse(action.request))) return handleSingle(metadata, action, params);
    noteOperation(action.request, { operation: endpoint });
    return handle(metadata, action, params);
  };
}

/** Other code than that of the endpoint for one record. */
interface ManyWork extends SingleWork {
  /** Writes all with one statement; null where nothing does. */
  readonly write?: ManyRunner | null;
}

/** Compiles the story of many records. An answer to writes that may create or change records says which of both each was. */
export function handleMany(
  single: RouteSpec,
  { resource, decisions, rows, shaper }: HandlerContext,
  parse: (request: Request) => Promise<BulkArguments | RequestArguments>,
  { write = rows && compileManyRunner(resource, single.operation), ...work }: ManyWork = {},
): ActionRunner {
  const { answer, isShapedByUser, settings, shapedBy } = decisions;
  const { operation, status = 200, verb } = single;
  const { plan, features } = resource;
  const sequelize = plan.model.sequelize as Sequelize;
  const run = compileBulkRunner(resource, single, rows, shaper, work);
  const isMixed = baseOf(operation) === 'replace';
  const { transaction } = operationSessions(resource, single, settings);
  const around = compileAround(resource, single, { shape: compileShape(resource, single), shapedBy, shaper });
  /** Requests whose statement was refused, or cannot do it. */
  const tried = new WeakSet<BulkArguments>();
  const completions = compileCompletions(resource, operation);
  const completionFor = ({ items }: BulkArguments) => {
    if (completions.length === 0) return null;
    for (const { input } of items ?? []) {
      const found = input && completionOf(completions, input);
      if (found) return found;
    }
    return null;
  };
  /** Writes with one statement; null where nothing was written that way. */
  const writeMany = async (
    request: Request,
    input: BulkArguments,
    runOn: <T>(work: OnTarget<T>) => Promise<T>,
  ): Promise<WholeWritten | null> => {
    const completion = completionFor(input);
    if (completion && !completion.completeAll) return null;
    if (!write || !rows?.isOpen() || !input.inputs.isAtomic || tried.has(input)) return null;
    tried.add(input);
    try {
      const writeOn: OnTarget<WholeWritten | null> = async (on) => {
        const written = await write(input, mostAffected(plan, input.inputs), on);
        if (!written?.shown || !completion?.completeAll) return written;
        const inputs = (input.items ?? []).flatMap((item) => item.input ?? []);
        const shown = await completion.completeAll(written.shown, inputs, { request, on, atOnce: 1 });
        return { ...written, shown };
      };
      return await retried(() => runOn(writeOn));
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  };
  const inSavepoint =
    ({ request, response }: Action) =>
    async <T>(work: OnTarget<T>): Promise<T> => {
      const unit = await requestSessions(request, response).unit(sequelize);
      return unit.attempt(async () => work(await sessionTarget(sequelize, verb)));
    };
  const shape: Story<BulkArguments, WholeWritten>['shape'] = (
    { shown, count, created },
    { access },
    format,
    { request },
  ) => {
    const { fields } = features[operation].absentFor(access.form);
    const items =
      shown && answering(request, () => (format === 'text' ? textsOf(shown, fields) : shown.values(fields)));
    return draftOf(status, items ?? { affected: count }, format, created);
  };
  const story: Story<BulkArguments, WholeWritten> = {
    parse: async (request) => {
      const input = await parse(request);
      if (isForMany(input)) return input;
      throw new TypeError('A route for many records has read a request for one.');
    },
    around: {
      headers: null,
      async find(action, { inputs, access }) {
        // A write that is rolled back leaves nothing of the others either.
        if (inputs.isDryRun) return rehearsal(action, sequelize);
        return around?.find(action, { access, query: features[operation].absentFor(access.form) }) ?? null;
      },
    },
    aloneTarget: compileAloneTarget(sequelize, settings, Boolean(write)),
    plan({ request, response }, input, around) {
      const isShaped = isShapedByUser || jsonReplacer(response) !== undefined;
      const isWhole =
        isShaped || rows?.isFollowed === true || around !== null || completionFor(input) !== null;
      return isWhole || !isAlone(sequelize, request) ? 'transaction' : 'alone';
    },
    runAlone: ({ request }, input, _around, on) => writeMany(request, input, (work) => work(on)),
    shape,
    sessions: { session: transaction, transaction },
    async runWithin(action, input) {
      const { request, response } = action;
      const format = formatFor(response, answer);
      const written = await writeMany(request, input, inSavepoint(action));
      noteOperation(request, { runner: written ? 'rows' : 'method' });
      if (written) return shape(written, input, format, action);
      const created = isMixed ? ([] as boolean[]) : undefined;
      const results = await run(action, input, (outcome, { query: { fields } }, index): unknown => {
        if (created) created[index] = outcome.isNew === true;
        if (operation === 'delete') return undefined;
        return answering(request, () =>
          format === 'text' ? outcome.writer(fields)(0) : outcome.values(fields)[0],
        );
      });
      if (!input.inputs.isAtomic) {
        const entries = shortenedTogether(results).map((each, index) =>
          entryOf(each, created?.[index] ? 201 : status, format, action),
        );
        return draftOf(207, entries, format);
      }
      const items = input.items && results.map(({ item }) => item);
      return draftOf(status, items ?? { affected: results.length }, format, created);
    },
    // The answer is the state of no resource.
    isTagged: false,
  };
  return answerWith(story, answer, shaper);
}

function rehearsal({ request, response }: Action, sequelize: Sequelize): Around {
  return {
    async run(next) {
      const unit = await requestSessions(request, response).unit(sequelize);
      return unit.rehearse(next);
    },
  };
}

function textsOf(shown: WholeRecords, fields: Fields): readonly string[] {
  const write = shown.writer(fields);
  return Array.from({ length: shown.size }, (_, index) => write(index));
}

/** Records that were written, with all that they are answered with. */
interface WholeWritten extends Omit<ManyWritten, 'shown' | 'columns'> {
  readonly shown: WholeRecords | null;
}

/** Work where statements run; undefined is any connection of the pool. */
type OnTarget<T> = (on: StatementTarget | undefined) => Promise<T>;

/**
 * @param content the items as texts or values, or all of the body
 * @param created says of each item that it is new, where it may be
 */
function draftOf(
  status: number,
  content: readonly unknown[] | object,
  format: Format,
  created?: readonly boolean[],
): AnswerDraft {
  if (!Array.isArray(content)) {
    return { status: 200, headers: {}, body: format === 'text' ? JSON.stringify(content) : content };
  }
  return {
    status,
    headers: {},
    body:
      format === 'text'
        ? `{"items":[${content.join()}]${created ? `,"created":${JSON.stringify(created)}` : ''}}`
        : { items: content, ...(created ? { created } : {}) },
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

function entryOf(
  { item, problem, key }: BulkResult<unknown>,
  status: number,
  format: Format,
  { request, response }: Action,
): unknown {
  const head = { status: problem?.status ?? status, ...(key === undefined ? {} : { key }) };
  const tail = problem ? { problem: itemProblem(problem, request, response) } : null;
  if (format === 'values') return { ...head, ...(tail ?? (item === undefined ? {} : { item })) };
  const text = JSON.stringify({ ...head, ...tail });
  return item === undefined ? text : `${text.slice(0, -1)},"item":${item}}`;
}
