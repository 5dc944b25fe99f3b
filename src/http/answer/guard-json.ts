/** `response.json()` for methods that answer by themselves: records leave as they do in what a method returns. */
import type { Response } from 'express';
import { type SerializerRegistry, serializeResult } from '../../response/result-serializer.js';
import { answering } from '../resources/application-access.js';

/** What `json` was before, for responses whose method has not returned. */
const unguarded = new WeakMap<Response, Response['json']>();

/** Express's `send` takes objects to `json`, so that this is for both. */
export function guardJson(response: Response, serializers: SerializerRegistry): void {
  if (unguarded.has(response)) return;
  const { json } = response;
  unguarded.set(response, json);
  response.json = (...bodies) =>
    json.apply(
      response,
      answering(response.req, () =>
        bodies.map((body) => serializeResult(body, serializers)),
      ) as typeof bodies,
    );
}

/** What a method has returned is shaped already. */
export function releaseJson(response: Response): void {
  const json = unguarded.get(response);
  if (json) response.json = json;
  unguarded.delete(response);
}
