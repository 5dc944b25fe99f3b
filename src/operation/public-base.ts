/** Addresses of an application as its clients write them, where a proxy takes off the beginning of paths. */
import type { Request } from 'express';

/** Segments that mean the same everywhere: none is empty, `.` or `..`, and nothing is encoded. */
const PREFIX = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/;
const MAX_LENGTH = 256;

/**
 * The path of an application or a router as clients have to write it. It is `X-Forwarded-Prefix`, where the setting `trust proxy` trusts
 * the sender, and the path where the application is mounted. Other values are ignored.
 */
export function publicBase(request: Request): string {
  const { baseUrl, headers } = request;
  const given = headers['x-forwarded-prefix'];
  if (typeof given !== 'string' || given.length > MAX_LENGTH) return baseUrl;
  const prefix = given.replace(/\/$/, '');
  return PREFIX.test(prefix) && trustsProxy(request) ? `${prefix}${baseUrl}` : baseUrl;
}

function trustsProxy({ app, socket }: Request): boolean {
  const trusts: unknown = app.get('trust proxy fn');
  return typeof trusts === 'function' && trusts(socket.remoteAddress, 0) === true;
}

/** A name or an address, with or without a port. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** The origin of the server as clients write it, such as `https://example.org`; empty where the request names none that is plain. */
export function publicOrigin(request: Request): string {
  const forwarded = trustsProxy(request) ? request.get('x-forwarded-host')?.split(',')[0]?.trim() : undefined;
  const host = forwarded || request.get('host') || '';
  return host.length <= MAX_LENGTH && HOST.test(host) ? `${request.protocol}://${host}` : '';
}

/**
 * The root of the application, relative to the path of a page, so that links work behind a proxy that cuts off a prefix. For a
 * browser, an address without a slash at its end is in the folder above.
 *
 * @param place the path of the page, as the browser has it
 * @returns without a slash at its end: `.`, `..`
 */
export function rootFrom(place: string, depth: number): string {
  const isFolder = place.endsWith('/');
  if (depth === 0) return isFolder ? '.' : `./${place.slice(place.lastIndexOf('/') + 1)}`;
  return ['.', ...Array.from({ length: isFolder ? depth : depth - 1 }, () => '..')].join('/');
}
