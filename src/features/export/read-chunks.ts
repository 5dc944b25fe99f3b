/** The rows of an export, chunk by chunk, each as a page of the list behind the one before, with all that a list does to its rows. */

import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { requestSettings } from '../../access/row-security.js';
import { readChunks } from '../../execute/chunks.js';
import { DatabaseSession, SNAPSHOT } from '../../execute/session/database-session.js';
import { hasAccessRules } from '../../express/resources/application-access.js';
import { compileCompletions, completeInSession } from '../../handle/around.js';
import { onPath } from '../../handle/commit-request.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import { completionOf, type Outcome } from '../../handle/outcome.js';
import { contextOf, outcomeOf } from '../../handle/run-method.js';
import { compileAloneTarget, sessionTarget } from '../../handle/run-rows.js';
import type { Inputs } from '../../operation/feature.js';
import { runWithSettings } from '../../postgres/index.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { Keyset } from '../../request/query/cursor-codec.js';
import { requestLogger } from '../../request/request-log.js';
import { requestSessions } from '../../request/request-sessions.js';
import { bytesOf } from '../../util/memory-budget.js';

/** A part of the rows. */
export interface ExportChunk {
  readonly outcome: Outcome;
  /** Null behind the last row. */
  readonly next: Keyset | null;
  readonly weight: { readonly bytes: number; readonly count: number };
}

/** Reads the rows of one export. */
export interface ExportReader {
  /** Counts them, up to a limit. @returns more than the limit where there are more */
  count(limit: number): Promise<number>;
  /** While a chunk is used, the next one is read. */
  chunks(): AsyncGenerator<ExportChunk, void, undefined>;
}

/** Runs the work of an export with its reader. */
export type WithReader = <T>(
  action: Action,
  input: RequestArguments,
  isConsistent: boolean,
  work: (reader: ExportReader) => Promise<T>,
) => Promise<T>;

/** Compiles it. Each statement is alone, and holds no connection behind its end; those of a snapshot are in one transaction. */
export function compileReader({ resource, rows, settings, shaper }: HandlerContext): WithReader {
  const { plan } = resource;
  const sequelize = plan.model.sequelize as Sequelize;
  const completions = compileCompletions(resource, 'list');
  const aloneTarget = compileAloneTarget(sequelize, settings, Boolean(rows));
  const onItsPath = onPath((_sessions, work) => work(), settings);

  const runInSession = async (action: Action, input: RequestArguments): Promise<Outcome> => {
    const { request } = action;
    const ran = rows?.isOpen() ? await rows.run(input, await sessionTarget(sequelize, 'get')) : null;
    const found = ran ?? (await runRepository(action, input));
    return completeInSession(completions, found, input, { request, sequelize, verb: 'get' });
  };
  const runRepository = async (action: Action, { query }: RequestArguments): Promise<Outcome> => {
    const { repository } = contextOf(resource, action);
    const page = await (query.kind === 'cursor'
      ? repository.cursorPage(query as Parameters<typeof repository.cursorPage>[0])
      : repository.page(query as Parameters<typeof repository.page>[0]));
    if (hasAccessRules(action.request)) await shaper.ready(page, action);
    return outcomeOf(resource, 'list', page);
  };
  const runAlone = async ({ request }: Action, input: RequestArguments): Promise<Outcome | null> => {
    const completion = completionOf(completions, input);
    if (!rows?.isOpen() || completion?.isOpen(input) === false) return null;
    const on = aloneTarget(request);
    const found = await rows.run(input, on);
    return found && completion ? completion.complete(found, input, { request, on, atOnce: 4 }) : found;
  };
  const begin = ({ request }: Action, mode: 'get' | 'read') =>
    new DatabaseSession(sequelize, mode, {
      logger: requestLogger(request),
      settings: requestSettings(request),
      owner: () => `An export of ${plan.name}`,
      ...(mode === 'read' ? SNAPSHOT : null),
    });
  /** Runs work in a session of its own, as a request for a page does. */
  const within = <T>({ request, response }: Action, session: DatabaseSession, work: () => Promise<T>) => {
    const given = requestSettings(request);
    const run = () => onItsPath(requestSessions(request, response), () => session.run(work));
    return given ? runWithSettings(given, run) : run();
  };

  return async (action, input, isConsistent, work) => {
    const { response } = action;
    const read = async (query: Inputs): Promise<Outcome> => {
      const asked = { ...input, query: Object.freeze({ ...input.query, ...query }) };
      if (isConsistent) return runInSession(action, asked);
      const alone = await runAlone(action, asked);
      return alone ?? within(action, begin(action, 'get'), () => runInSession(action, asked));
    };
    const reader: ExportReader = {
      async count(limit) {
        const mode =
          limit === Number.POSITIVE_INFINITY
            ? ({ count: 'exact' } as const)
            : ({ count: 'capped', cap: limit } as const);
        const { page } = await read({ kind: 'offset', page: 1, size: 0, ...mode, include: [] });
        const { total, totalIs } = page ?? {};
        return Number(total) + (totalIs === 'at_least' ? 1 : 0);
      },
      chunks: () =>
        readAhead(
          readChunks(input.query.after ?? null, async (after, size): Promise<ExportChunk> => {
            const place = { kind: 'cursor', after, before: null, size, count: 'none' } as const;
            const outcome = await read(place);
            const weight = { bytes: bytesOf(outcome.rows), count: outcome.size };
            return { outcome, next: outcome.page?.next ?? null, weight };
          }),
        ),
    };
    if (!isConsistent) return work(reader);
    const session = begin(action, 'read');
    const abort = (): void => {
      if (!response.writableFinished) void session.abort(new Error('The answer was cut.'));
    };
    response.once('close', abort);
    return within(action, session, () => work(reader));
  };
}

/** Computes the next value while one is used. The source has ended when this generator has. */
async function* readAhead<T>(source: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  let next = source.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = source.next();
      // It is awaited later, or not at all.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
  }
}
