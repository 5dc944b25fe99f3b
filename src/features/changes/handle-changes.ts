/** Answers `GET /cities/changes`: a page of events as JSON, or a stream of them. */
import type { Request, Response } from 'express';
import type { Sequelize } from 'sequelize';
import { noteOperation } from '../../diagnostics/channels.js';
import { sequelizeProblem } from '../../execute/customization/internals-trial.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import type { Resource } from '../../express/resources/resource.js';
import { isDraining } from '../../express/server/express-server.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import type { Inputs } from '../../operation/feature.js';
import { enginesInUse } from '../../postgres/index.js';
import { compileWorkParser } from '../../request/parse-request.js';
import { requestLogger } from '../../request/request-log.js';
import { JsonAnswer, writesPlainJson } from '../../respond/json-answer.js';
import { changesOf, historyOf } from '../capture/capture-options.js';
import { changeTables } from '../capture/change-table.js';
import { Ticks } from '../capture/ticks.js';
import { changesInputs } from './changes-inputs.js';
import { type AskedCondition, conditionOf } from './conditions.js';
import { EventStream, STREAM_HEADERS } from './event-stream.js';
import { type Audience, Feed } from './feed.js';
import type { FeedSettings } from './feed-options.js';
import { jointFeedOf } from './joint-feed.js';
import { readPage } from './long-poll.js';
import { behind, type Place, type PlaceCodec, placeCodec } from './place.js';
import { TickSignal } from './tick-signal.js';

const EVENT_STREAM = 'text/event-stream';

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
    const body = await pageOf(request, asked, given, input.query);
    if (decisions.answer !== 'text' || !writesPlainJson(response)) return body;
    return new JsonAnswer(JSON.stringify(body), 200, {}, false);
  };
}

interface Given {
  readonly settings: FeedSettings;
  readonly isFast: boolean;
  readonly after: string | undefined;
}

async function pageOf(request: Request, asked: AskedCondition, given: Given, query: Inputs): Promise<object> {
  const { feed, audience, codec, place } = await begin(request, [asked], given);
  const wait = request.method === 'HEAD' ? 0 : Number(query['changes.wait']) * 1_000;
  const page = await readPage(feed, audience, place, {
    size: Number(query['changes.size']),
    wait,
    isOver: () => isDraining(request.app) || request.socket.destroyed,
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
  asked: readonly AskedCondition[],
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

/** The parts of an answer. */
interface Begun {
  readonly feed: Feed;
  readonly audience: Audience;
  readonly codec: PlaceCodec;
  readonly place: Place;
}

async function begin(
  request: Request,
  asked: readonly AskedCondition[],
  { settings, isFast, after = 'now' }: Given,
): Promise<Begun> {
  const [{ condition } = missing()] = asked;
  const { resource } = condition;
  const feed = feedOf(request, resource, settings, isFast);
  const conditions = asked.map((each) => each.condition);
  const audience = { key: conditions.map(({ key }) => key).join(' '), conditions };
  const retentions = conditions.flatMap(({ resource: { plan } }) =>
    [changesOf(plan)?.retention, historyOf(plan)?.retention].flatMap((each) => each ?? []),
  );
  const digest = asked.map((each) => each.digest);
  const codec = placeCodec(resource.cursors, resource.plan, digest, retentions);
  if (after === 'now') return { feed, audience, codec, place: behind(await feed.now()) };
  if (after === 'start') return { feed, audience, codec, place: await feed.start() };
  return { feed, audience, codec, place: await feed.alone((ticks) => codec.decode(after, ticks)) };
}

function missing(): never {
  throw new TypeError('A feed has no condition.');
}

/** By instance, and by the table of events. */
const feeds = new WeakMap<Sequelize, Map<string, Feed>>();

function feedOf(request: Request, { plan }: Resource, settings: FeedSettings, isFast: boolean): Feed {
  const sequelize = plan.model.sequelize as Sequelize;
  const known = feeds.get(sequelize) ?? new Map<string, Feed>();
  feeds.set(sequelize, known);
  const { changes } = changeTables(plan.model);
  const key = JSON.stringify([changes, isFast, settings.tick, settings.maxStreams]);
  const cache = enginesInUse().find((engine) => engine.sequelize === sequelize)?.cache;
  const feed =
    known.get(key) ??
    new Feed(new Ticks(plan, isFast), {
      ...settings,
      logger: requestLogger(request),
      signal: cache ? new TickSignal(cache, `crud:ticks:${sequelize.getDatabaseName()}:${changes}`) : null,
    });
  known.set(key, feed);
  return feed;
}
