/** Problems of the API as errors of react-admin, which shows each at its field. */
import { HttpError } from 'react-admin';

interface Problem {
  readonly detail: string;
  readonly errors?: readonly { readonly pointer?: string; readonly detail: string }[];
}

/**
 * The error of an answer. Its `body` is the problem, in which `errors` are messages by the names of fields.
 *
 * react-hook-form keeps an error for ever that no field has. So what is wrong with a property that was not sent belongs to the form.
 */
export function toHttpError(response: Response, answer: unknown, sent: object = {}): HttpError {
  const problem = isProblem(answer) ? answer : { detail: response.statusText || `Status ${response.status}` };
  const { errors: issues = [], ...body } = problem;
  const pointed = issues.filter(({ pointer }) => pointer !== undefined);
  if (pointed.length === 0) return new HttpError(problem.detail, response.status, body);
  const errors: Record<string, string> = {};
  for (const { pointer = '', detail } of pointed) {
    const path = pointer.split('/').slice(1).map(unescapePointer);
    if (path[0] === undefined || !(path[0] in sent)) continue;
    const field = path.join('.');
    errors[field] = errors[field] ? `${errors[field]} ${detail}` : detail;
  }
  const message = [...new Set(pointed.map(({ detail }) => detail))].join(' ');
  return new HttpError(message, response.status, {
    ...body,
    errors: { ...errors, root: { serverError: message } },
  });
}

function isProblem(answer: unknown): answer is Problem {
  return typeof answer === 'object' && answer !== null && 'detail' in answer;
}

/** RFC 6901. */
function unescapePointer(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}
