/** The answers of the user's methods: results that they return, or pass to `response.json()`. */
import type { Response } from 'express';
import type { Action, ActionMetadata } from 'routing-controllers';
import { setDefaultHeaders } from '../../request/standard-headers.js';
import { type SerializerRegistry, serializeResult } from '../../respond/result-serializer.js';
import { answering } from '../resources/application-access.js';

/** The methods of Express that write JSON. Its `send` takes objects to `json`. */
type JsonMethods = Pick<Response, 'json' | 'jsonp'>;

/** Express's own methods of responses whose controller method has not returned yet. */
const unguarded = new WeakMap<Response, JsonMethods>();

/** Guards a response for methods that answer by themselves. */
export function guardJson(response: Response, serializers: SerializerRegistry): void {
  if (unguarded.has(response)) return;
  const { json, jsonp } = response;
  unguarded.set(response, { json, jsonp });
  const guarded =
    (write: Response['json']): Response['json'] =>
    (...bodies) => {
      if (!response.headersSent) setDefaultHeaders(response);
      const shown = answering(response.req, () => bodies.map((body) => serializeResult(body, serializers)));
      return write.apply(response, shown as typeof bodies);
    };
  Object.assign(response, { json: guarded(json), jsonp: guarded(jsonp) });
}

/** Restores Express's own methods: a returned value is serialized already. */
export function releaseJson(response: Response): void {
  Object.assign(response, unguarded.get(response));
  unguarded.delete(response);
}

/** Steps through which the answers of the user's methods go. */
export interface ResultShaper {
  /** To be called before a method that gets the response, and may write to it. */
  guard(response: Response): void;
  /** Waits for rules that have to be evaluated before a result is shaped. */
  ready(result: unknown, action: Action): Promise<void>;
  /** Shapes the result of a method; throws where it cannot be sent. */
  shape(result: unknown, method: ActionMetadata, action: Action): unknown;
  /** Lets a result be sent as it is; false where an interceptor may make something else of it. */
  settle(shaped: unknown, method: ActionMetadata): boolean;
}
