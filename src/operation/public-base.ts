/** The path below which clients reach an application, where a proxy takes off the beginning of paths. */
import type { Request } from 'express';

/** Segments that mean the same everywhere: none is empty, `.` or `..`, and nothing is encoded. */
const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/;
const MAX_LENGTH = 256;

/**
 * The path of an application or a router as clients have to write it: `X-Forwarded-Prefix`, where the setting `trust proxy` trusts who
 * sends it, and the place where the application is mounted. Other values are ignored.
 */
export function publicBase({ app, baseUrl, headers, socket }: Request): string {
  const given = headers['x-forwarded-prefix'];
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return baseUrl;
  const prefix = given.replace(/\/$/, '');
  if (!PREFIX.test(prefix)) return baseUrl;
  const trusts: unknown = app.get('trust proxy fn');
  const isTrusted = typeof trusts === 'function' && trusts(socket.remoteAddress, 0) === true;
  return isTrusted ? `${prefix}${baseUrl}` : baseUrl;
}

/**
 * The root of the application as a page sees it that is so many segments below it: relative, so that links work behind a proxy
 * that cuts off a prefix. To a browser, an address without a slash at its end is in the folder above.
 *
 * @param place the path of the page, as the browser has it
 * @returns without a slash at its end: `.`, `..`
 */
export function rootFrom(place: string, depth: number): string {
  const isFolder = place.endsWith('/');
  if (depth === 0) return isFolder ? '.' : `./${place.slice(place.lastIndexOf('/') + 1)}`;
  return ['.', ...Array.from({ length: isFolder ? depth : depth - 1 }, () => '..')].join('/');
}
