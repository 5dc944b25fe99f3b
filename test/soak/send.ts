/** One request over a connection that is kept, and its answer. */
import { once } from 'node:events';
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** A request. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a text as it is. */
  readonly body?: unknown;
}

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Milliseconds. More than all timeouts of the application together. */
const PATIENCE = 15_000;

/** Sends it. @returns the error where there is no answer */
export async function send(agent: Agent, port: number, call: Call): Promise<Answer | Error> {
  const { method, path, headers, body } = call;
  const sent = request({ agent, port, host: '127.0.0.1', method, path, headers: { ...headers } });
  sent.setTimeout(PATIENCE, () => sent.destroy(new Error(`no answer within ${PATIENCE} ms`)));
  if (body !== undefined) {
    if (!sent.hasHeader('content-type')) sent.setHeader('content-type', 'application/json');
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  } else sent.end();
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
  } catch (error) {
    return error as Error;
  }
}
