/** Sends the requests of the provider through a typed client, and makes what is refused an error. */
import type { Client } from 'openapi-fetch';
import type { Identifier } from 'react-admin';
import { type LabelOf, toHttpError } from './problem.js';

/** What a request has beside its method and its path. The id stands in the path, as `{id}`. */
export interface Call {
  readonly id?: Identifier | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  /** Labels of the attributes in messages. Default: their names. */
  readonly labelOf?: LabelOf;
}

/** What came back. */
export interface Answer<Body> {
  readonly body: Body;
  /** The state of the record. */
  readonly tag: string | null;
}

/** What all clients have in common, whatever their document. */
interface AnyClient {
  request(
    method: string,
    path: string,
    init: object,
  ): Promise<{ data?: unknown; error?: unknown; response: Response }>;
}

/** The body is of the type that the document names for the path. */
export type Send = <Body>(method: string, path: string, call: Call) => Promise<Answer<Body>>;

/** Makes the function that sends. It throws an `HttpError` for every problem. */
export function createSender<Paths extends object>(client: Client<Paths>): Send {
  // Which path is asked is known when the program runs. `Resource` has compared it with those of the client.
  const { request } = client as unknown as AnyClient;
  return async <Body>(
    method: string,
    path: string,
    { id, query, header, body, signal, labelOf = String }: Call,
  ) => {
    const params = { path: { id }, query, header };
    const { data, error, response } = await request(method, path, { params, body, signal });
    if (!response.ok) throw toHttpError(response, error, body ?? {}, labelOf);
    // As the document says, which the API is tested against.
    return { body: data as Body, tag: response.headers.get('ETag') };
  };
}
