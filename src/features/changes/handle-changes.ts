/** Answers `GET /cities/changes`: a page of events as JSON, or a stream of them. */
import type { Request, Response } from 'express';
import type { Sequelize } from 'sequelize';
import { noteOperation } from '../../diagnostics/channels.js';
import { hasState, MISSING_TABLE } from '../../errors/database-fault.js';
import { sequelizeProblem } from '../../execute/customization/internals-trial.js';
import { rest } from '../../express/connection/open-connection.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import type { Resource } from '../../express/resources/resource.js';
import { isDraining } from '../../express/server/express-server.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import type { Input, Inputs } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { enginesInUse } from '../../postgres/index.js';
import { compileWorkParser } from '../../request/parse-request.js';
import { CURSOR_LENGTH } from '../../request/query/cursor-codec.js';
import { requestLogger } from '../../request/request-log.js';
import { JsonAnswer, writesPlainJson } from '../../respond/json-answer.js';
import { logFailure } from '../../respond/send-problem.js';
import { keptIn } from '../../util/memo.js';
import { changesOf, historyOf } from '../capture/capture-options.js';
import { changeTables } from '../capture/change-table.js';
import { Ticks } from '../capture/ticks.js';
import { integerInput } from '../paging.js';
import { EventStream, STREAM_HEADERS } from './event-stream.js';
import { Feed } from './feed.js';
import type { FeedSettings } from './feed-options.js';
import { jointFeedOf } from './joint-feed.js';
import { type Condition, conditionOf } from './judge.js';
import { readPage } from './long-poll.js';
import { behind, type Place, placeCodec } from './place.js';
import { TickSignal } from './tick-signal.js';

const EVENT_STREAM = 'text/event-stream';

/** Events of a page at most. */
const MAX_SIZE = 1_000;
const USUAL_SIZE = 100;

/** Parameters beside those that lists have, too. Their members have names that no parameter of a list has. */
export function changesInputs({ maxWait }: FeedSettings): readonly Input[] {
  const inputs: readonly Input[] = [
    {
      in: 'query',
      name: 'after',
      endpoints: [],
      read: (text) => text,
      describe: () => ({
        description:
          'The `next_cursor` of another page or the id of an event, unchanged, with the same `q`; `now`, which is the default; or `start`, before all events that are kept.',
        schema: { type: 'string', minLength: 1, maxLength: CURSOR_LENGTH, examples: ['now'] },
      }),
    },
    integerInput('size', 'How many events a page has. A stream has no pages.', USUAL_SIZE, [1, MAX_SIZE]),
    integerInput('wait', 'Seconds in which the first event may come, where there is none yet.', 0, [
      0,
      maxWait / 1_000,
    ]),
  ];
  return inputs.map((each) => ({ ...each, member: `changes.${each.name}` }));
}

/** Compiles the handler. */
export function changesHandler(
  { resource, decisions }: HandlerContext,
  settings: FeedSettings,
): ActionRunner {
  const readers = resource.features.listInputs(['q'], changesInputs(settings));
  const parse = compileWorkParser(resource, 'changes', readers);
  const isFast = decisions.settings.fastPath && !sequelizeProblem();
  return async (_metadata, { request, response }) => {
    noteOperation(request, { operation: 'changes' });
    response.vary('Accept');
    const input = await parse(request);
    const asked = conditionOf(resource, input, request);
    const joint = jointFeedOf(request);
    if (joint) {
      const all = joint.add(asked);
      if (all) await openStream(request, response, all, { settings, isFast, after: joint.after });
      return response;
    }
    const given = { settings, isFast, after: input.query['changes.after'] as string | undefined };
    if (request.accepts(['application/json', EVENT_STREAM]) === EVENT_STREAM) {
      await openStream(request, response, [asked], given);
      return response;
    }
    const body = await pageOf(request, response, asked, given, input.query);
    if (decisions.answer !== 'text' || !writesPlainJson(response)) return body;
    return new JsonAnswer(JSON.stringify(body), 200, {}, false);
  };
}

interface Given {
  readonly settings: FeedSettings;
  readonly isFast: boolean;
  readonly after: string | undefined;
}

async function pageOf(
  request: Request,
  response: Response,
  asked: Condition,
  given: Given,
  query: Inputs,
): Promise<object> {
  const { feed, audience, codec, place } = await begin(request, [asked], given);
  const wait = request.method === 'HEAD' ? 0 : Number(query['changes.wait']) * 1_000;
  const page = await readPage(feed, audience, place, {
    size: Number(query['changes.size']),
    wait,
    isOver: () => isDraining(request.app) || request.socket.destroyed,
    onWait: () => rest(response),
  });
  return {
    items: page.events.map(({ event }) => event),
    next_cursor: codec.encode(page.place),
    has_next: !page.isLast,
  };
}

async function openStream(
  request: Request,
  response: Response,
  asked: readonly Condition[],
  given: Given,
): Promise<void> {
  const after = request.get('Last-Event-ID') || given.after;
  const { feed, audience, codec, place } = await begin(request, asked, { ...given, after });
  if (request.method === 'HEAD') {
    response.writeHead(200, STREAM_HEADERS).end();
    return;
  }
  feed.check(audience);
  if (!response.destroyed) new EventStream(feed, audience, place, codec, response, given.settings).open();
}

/** Finds the feed, and the place in it from which the answer goes on. */
async function begin(
  request: Request,
  conditions: readonly Condition[],
  { settings, isFast, after = 'now' }: Given,
) {
  const [{ resource }] = conditions as [Condition];
  const feed = feedOf(request, resource, settings, isFast);
  const audience = { key: conditions.map(({ key }) => key).join(' '), conditions };
  const retentions = conditions.flatMap(({ resource: { plan } }) =>
    [changesOf(plan)?.retention, historyOf(plan)?.retention].flatMap((each) => each ?? []),
  );
  const digest = conditions.map((each) => each.digest);
  const codec = placeCodec(resource.cursors, resource.plan, digest, retentions);
  const find = async (): Promise<Place> => {
    if (after === 'now') return behind(await feed.now());
    if (after === 'start') return await feed.start(retentions);
    return await feed.alone((ticks) => codec.decode(after, ticks));
  };
  const place = await find().catch((error: unknown) => {
    // `sql` prints the table, and the start has said so.
    if (!hasState(error, MISSING_TABLE)) throw error;
    logFailure(request, 503, error);
    throw new RefusedRequestError(503, 'Changes cannot be followed now; try again later.');
  });
  return { feed, audience, codec, place };
}

/** By instance, and by the table of events. */
const feeds = new WeakMap<Sequelize, Map<string, Feed>>();

function feedOf(request: Request, { plan }: Resource, settings: FeedSettings, isFast: boolean): Feed {
  const sequelize = plan.model.sequelize as Sequelize;
  const { changes } = changeTables(plan.model);
  const key = JSON.stringify([changes, isFast, settings.tick, settings.maxStreams]);
  const known = keptIn(feeds, sequelize, () => new Map<string, Feed>());
  return keptIn(known, key, () => {
    const cache = enginesInUse().find((engine) => engine.sequelize === sequelize)?.cache;
    const channel = `crud:ticks:${sequelize.getDatabaseName()}:${changes}`;
    const signal = cache ? new TickSignal(cache, channel) : null;
    return new Feed(new Ticks(plan.info, isFast), { ...settings, logger: requestLogger(request), signal });
  });
}
