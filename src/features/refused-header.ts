/** Headers that a request may not have, because nothing could satisfy them. */
import type { Endpoint } from '../declare/endpoint.js';
import type { Input } from '../operation/feature.js';

/** A header that requests of some endpoints may not have. @param refuse checks its text, and makes the error */
export function refusedHeader(
  name: string,
  endpoints: readonly Endpoint[],
  refuse: (text: string) => Error,
): Input {
  const read = (text: string): never => {
    throw refuse(text);
  };
  return { in: 'header', name, endpoints, read };
}
