/** The path of a resource. */
import type { CrudOptions } from '../metadata/crud-options.js';
import type { ModelInfo } from '../model/model-info.js';
import { showValue } from '../util/show-value.js';

/** Segments of letters, digits and `-._~`: what needs no encoding and means nothing to a router (RFC 3986, 2.3). */
const PREFIX = /^(?:\/[A-Za-z0-9\-._~]+)+$/;

/** `BlogPosts` -> `blog-posts`, `HTTPRequests` -> `http-requests`. */
export function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .replace(/[_\s]+/g, '-')
    .toLowerCase();
}

/** The prefix as given, or the kebab-case plural of the model's name. A trailing slash is dropped. */
export function compilePrefix(
  info: ModelInfo,
  options: CrudOptions,
  report: (problem: string) => void,
): string {
  const given = options.prefix ?? `/${kebabCase(info.pluralName)}`;
  const prefix = String(given).replace(/\/$/, '');
  if (prefix !== '' && !PREFIX.test(prefix)) {
    report(
      `${info.name}: prefix ${showValue(given)} is not a plain path; ` +
        "use '/segments' of letters, digits, '-', '.', '_' and '~'.",
    );
  }
  return prefix;
}
