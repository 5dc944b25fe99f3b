/** Problems of the API as errors of react-admin, which shows each at its field. */
import { HttpError } from 'react-admin';
import type { FieldOf } from './nested.js';

interface Problem {
  readonly detail: string;
  readonly errors?: readonly { readonly pointer?: string; readonly detail: string }[];
}

/** Label of an attribute, as people see it. */
export type LabelOf = (attribute: string) => string;

/**
 * The error of an answer. Its `body` is the problem, in which `errors` are messages by the names of fields.
 *
 * A message is shown at its field, and nowhere else. react-hook-form keeps an error for ever that no field has, so a message about a property
 * that was not sent, or about a part of one, belongs to the form.
 */
export function toHttpError(
  response: Response,
  answer: unknown,
  sent: object,
  labelOf: LabelOf,
  fieldOf: FieldOf = () => undefined,
): HttpError {
  const problem = isProblem(answer) ? answer : { detail: response.statusText || `Status ${response.status}` };
  const { errors: issues = [], ...body } = problem;
  const pointed = issues.flatMap(({ pointer, detail }) => {
    const path = pointer?.split('/').slice(1).map(unescapePointer);
    if (!path) return [];
    const part = path.length > 1 ? fieldOf(path) : undefined;
    const attribute = (part === undefined ? path[0] : path.at(-1)) ?? '';
    return [{ path, part, text: labelled(detail, attribute, labelOf) }];
  });
  if (pointed.length === 0) return new HttpError(problem.detail, response.status, body);
  const errors: Record<string, string> = {};
  const others = new Set<string>();
  for (const { path, part, text } of pointed) {
    const [field = ''] = path;
    const isOfField = field in sent;
    const name = part ?? path.join('.');
    if (isOfField) errors[name] = errors[name] ? `${errors[name]} ${text}` : text;
    if (!isOfField || (path.length > 1 && part === undefined)) others.add(text);
  }
  const message = [...new Set(pointed.map(({ text }) => text))].join(' ');
  const root = others.size > 0 ? { root: { serverError: [...others].join(' ') } } : {};
  return new HttpError(message, response.status, { ...body, errors: { ...errors, ...root } });
}

/** The message with the label in the place of the name of the attribute. */
function labelled(detail: string, attribute: string, labelOf: LabelOf): string {
  const start = attribute === '' ? -1 : detail.search(wordOf(attribute));
  if (start < 0) return detail;
  return `${detail.slice(0, start)}${labelOf(attribute)}${detail.slice(start + attribute.length)}`;
}

function wordOf(text: string): RegExp {
  return new RegExp(`(?<![\\w.])${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?!\\w)`);
}

function isProblem(answer: unknown): answer is Problem {
  return typeof answer === 'object' && answer !== null && 'detail' in answer;
}

/** RFC 6901. */
function unescapePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
