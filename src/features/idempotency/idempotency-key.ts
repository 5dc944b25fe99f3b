/** `Idempotency-Key`: a write that is sent again is done once. */
import { ENDPOINTS } from '../../declare/crud-options.js';
import type { Feature, HeaderDescription, Input } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';

/** The name of the header. */
export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** The header of an answer that was kept. */
export const REPLAYED = 'Idempotent-Replayed';

/** Reads are repeated without a key. */
export const WRITES = ENDPOINTS.filter((endpoint) => endpoint !== 'list' && endpoint !== 'read');

/** RFC 8941, 3.3.3: a string. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/** A key that a client sends without quotes. No comma: two headers are joined by one. */
const BARE = /^[\x21\x23-\x2b\x2d-\x7e]+$/;

const LONGEST = 255;

const HEADER: Readonly<Record<string, HeaderDescription>> = {
  [REPLAYED]: {
    description: 'The answer is that of an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
};

/** Parts of the descriptions of problems. */
const CAUSES: NonNullable<Feature['causes']> = {
  400: 'Or the `Idempotency-Key` is malformed, or missing.',
  409: 'With `Retry-After`: a request with the same `Idempotency-Key` is under way.',
  422: 'Or the `Idempotency-Key` was used for another request.',
};

/** Refuses keys: a client that sends one relies on it. */
export function refuseKeys(): Feature {
  return { inputs: [input({ read: refuse })], causes: CAUSES };
}

/** Takes keys. */
export function takeKeys(isRequired: boolean): Feature {
  const description =
    'Names the request, so that it can be sent again: it is done once, and answered with the same. ' +
    `Another request has another key. ${isRequired ? 'Required.' : 'Default: none.'}`;
  const taken = input({
    read: parseKey,
    ...(isRequired ? { missing: refuseMissing } : {}),
    describe: () => ({ description, schema: { type: 'string', minLength: 1, maxLength: LONGEST } }),
  });
  const headers = Object.fromEntries(WRITES.map((each) => [each, HEADER]));
  return { inputs: [taken], headers, causes: CAUSES };
}

function input(rest: Pick<Input, 'read' | 'missing' | 'describe'>): Input {
  return {
    in: 'header',
    name: IDEMPOTENCY_KEY,
    endpoints: WRITES,
    member: 'idempotencyKey',
    isForMany: true,
    ...rest,
  };
}

/**
 * The key that a header names, with quotes or without.
 *
 * @throws RefusedRequestError 400
 */
export function parseKey(text: string): string {
  const [, quoted] = QUOTED.exec(text) ?? [];
  const key = quoted === undefined ? text : quoted.replace(/\\(.)/g, '$1');
  if ((quoted !== undefined || BARE.test(key)) && key.length >= 1 && key.length <= LONGEST) return key;
  throw new RefusedRequestError(
    400,
    `Idempotency-Key is no text of 1 to ${LONGEST} ASCII characters; use one such as "8e03978e-40d5-43dd-bc93-6894a57f9324".`,
  );
}

function refuse(): never {
  throw new RefusedRequestError(
    400,
    'Idempotency-Key is not kept here, so that the request would be done again, and nothing was done; leave it out, or ' +
      'have the server set the option idempotency.',
  );
}

function refuseMissing(): never {
  throw new RefusedRequestError(
    400,
    'A write needs the header Idempotency-Key: a text for this request alone, such as a random UUID.',
  );
}
