/** One request, and its answer. */

/** A request to a contender. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to a call. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed from JSON. */
  readonly body: unknown;
}

/** Sends a request to one contender. */
export type Ask = (call: Call) => Promise<Answer>;

/** Sends requests to the process that listens on the port. */
export function askPort(port: number): Ask {
  return async ({ method, path, body, headers }) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
      headers: { ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  };
}

/** The text itself where it is not JSON, such as an error page. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
