/** The shape of errors in the contract: messages by property. */
import type { Problem } from 'crud-controllers';

/** `{ "errors": { "title": ["title is required."] } }`; what is about no property is under `request`. */
export function problem({ detail, errors = [] }: Problem) {
  const groups: Record<string, string[]> = errors.length > 0 ? {} : { request: [detail] };
  for (const { detail: text, ...place } of errors) {
    const name = 'pointer' in place ? place.pointer.slice(1) : place.parameter;
    groups[name || 'request'] = [...(groups[name || 'request'] ?? []), text];
  }
  return { errors: groups };
}
