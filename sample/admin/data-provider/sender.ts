/** Sends the requests of the provider through a typed client, and makes what is refused an error. */
import type { Client } from 'openapi-fetch';
import type { Identifier } from 'react-admin';
import { CutError } from './files.js';
import type { FieldOf } from './nested.js';
import { type LabelOf, toHttpError } from './problem.js';
import { sendFile } from './send-file.js';

/** The parts of a request beside its method and its path. The path has `{id}` in place of the id. */
export interface Call {
  readonly id?: Identifier | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  /** Labels of the attributes in messages. Default: their names. */
  readonly labelOf?: LabelOf;
  /** Fields of the form that parts of the body are of. Default: none is. */
  readonly fieldOf?: FieldOf;
}

/** The answer to a request. */
export interface Answer<Body> {
  readonly body: Body;
  /** The state of the record. */
  readonly tag: string | null;
}

/** The method that all clients have, whatever their document. */
interface AnyClient {
  request(
    method: string,
    path: string,
    init: object,
  ): Promise<{ data?: unknown; error?: unknown; response: Response }>;
}

/** Sends requests. */
export interface Send {
  /** The body is of the type that the document names for the path. */
  <Body>(method: string, path: string, call: Call): Promise<Answer<Body>>;
  /** For files: the body of the answer is read by the caller. Problems are no errors here. */
  file(method: string, path: string, call: FileCall): Promise<FileAnswer>;
}

/** A request for a file, or with one. */
export interface FileCall extends Pick<Call, 'query' | 'header' | 'signal'> {
  /** Sent as it is. */
  readonly file?: Blob;
  /** From 0 to 1, while the file is sent. */
  readonly onSent?: (share: number) => void;
}

/** The answer to a file, or a file for an answer. */
export interface FileAnswer {
  /** Its body was not read, unless there is a problem. */
  readonly response: Response;
  readonly problem?: unknown;
}

/** Makes the function that sends. It throws an `HttpError` for every problem. */
export function createSender<Paths extends object>(client: Client<Paths>): Send {
  // The path is a value at run time. `Resource` has compared it with those of the client.
  const { request } = client as unknown as AnyClient;
  const send = async <Body>(
    method: string,
    path: string,
    { id, query, header, body, signal, labelOf = String, fieldOf }: Call,
  ) => {
    const params = { path: { id }, query, header };
    const { data, error, response } = await request(method, path, { params, body, signal });
    if (!response.ok) throw toHttpError(response, error, body ?? {}, labelOf, fieldOf);
    // As the document says, which the API is tested against.
    return { body: data as Body, tag: response.headers.get('ETag') };
  };
  const file = async (method: string, path: string, call: FileCall) => {
    const { query, header, file: body, onSent = () => {}, signal } = call;
    // The request of the client has no body, so that it is not read twice; its middlewares see the rest.
    const fetch = body && { fetch: sendFile(body, onSent) };
    const init = { params: { query, header }, signal, parseAs: 'stream', ...fetch };
    const { error: problem, response } = await request(method, path, init).catch(explain);
    return response.ok ? { response } : { response, problem };
  };
  return Object.assign(send, { file });
}

/** Each browser has its own words. */
function explain(error: unknown): never {
  throw error instanceof TypeError ? new CutError('The connection was lost.', { cause: error }) : error;
}
