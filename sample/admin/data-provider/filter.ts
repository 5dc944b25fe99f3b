/**
 * Filters of react-admin as parameters of a list.
 *
 * The name of a filter is an attribute: `countryCode` is `==`, or `=in=` where there are several values. Another operator
 * follows an `@`: `population@ge`. Relations have dots: `country.region`. The filter `q` is RSQL as it is. A name with a
 * question mark is a parameter of the request: `?deleted`.
 */

type Filters = readonly (readonly [string, unknown])[];

const ANY_TEXT = /^i?(?:not)?like$/;

/** The parameters of a list: `q` with all conditions, and those that were named. What is empty is left out. */
export function toParameters(filter: object = {}): Readonly<Record<string, unknown>> {
  const filters = Object.entries(filter);
  const named = filters
    .filter(([name]) => name.startsWith('?'))
    .map(([name, value]) => [name.slice(1), value]);
  return { ...Object.fromEntries(named), ...toQ(filters.filter(([name]) => !name.startsWith('?'))) };
}

/** All conditions, joined by "and". */
function toQ(filters: Filters): { q?: string } {
  const q = conditions(filters).join(';');
  return q ? { q } : {};
}

/** Forms nest what has dots in its name. */
function conditions(filters: Filters, path = ''): string[] {
  return filters.flatMap(([name, value]) => {
    if (value === undefined || value === null || value === '') return [];
    if (Array.isArray(value) && value.length === 0) return [];
    if (path === '' && name === 'q') return [`(${value})`];
    if (typeof value === 'object' && !Array.isArray(value))
      return conditions(Object.entries(value), `${path}${name}.`);
    return [condition(`${path}${name}`, value)];
  });
}

function condition(name: string, value: unknown): string {
  const [attribute = '', operator = Array.isArray(value) ? 'in' : ''] = name.split('@');
  const compared = operator ? `=${operator}=` : '==';
  if (Array.isArray(value)) return `${attribute}${compared}(${value.map(quote).join(',')})`;
  return `${attribute}${compared}${quote(ANY_TEXT.test(operator) ? pattern(String(value)) : value)}`;
}

/** A text that somebody types is looked for anywhere, unless it is a pattern: one with a `*`. */
function pattern(text: string): string {
  return text.includes('*') ? text : `*${text.replaceAll('\\', '\\\\')}*`;
}

function quote(value: unknown): string {
  return `"${String(value).replace(/["\\]/g, '\\$&')}"`;
}
