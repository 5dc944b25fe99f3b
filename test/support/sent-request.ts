/** Requests without a server, as far as what reads them needs them. */
import { Readable } from 'node:stream';
import type { Request } from 'express';

/** What a request has. */
export interface SentRequest {
  readonly url?: string;
  /** By their names in small letters. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  /** JSON by default. */
  readonly body?: string | Buffer;
  /** Whether no byte of the body has come yet, and nothing says how many will. */
  readonly isChunked?: boolean;
}

/** A request as it arrives. */
export function sentRequest({
  url = '/',
  headers = {},
  params = {},
  body = '',
  isChunked = false,
}: SentRequest): Request {
  const bytes = Buffer.from(body);
  const stream = new Readable({ read: () => {} });
  const push = (): void => {
    stream.push(bytes);
    stream.push(null);
  };
  if (isChunked) setImmediate(push);
  else push();
  const length = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes.length) };
  const all: Readonly<Record<string, string>> = { ...length, 'content-type': 'application/json', ...headers };
  const get = (name: string): string | undefined => all[name.toLowerCase()];
  return Object.assign(stream, { url, params, headers: all, get }) as unknown as Request;
}
