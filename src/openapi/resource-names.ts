/** The names of a resource in a document: of its schemas and operations, which become the names of a client. */
import { kebabCase } from '../compile/compile-options.js';
import type { ResourcePlan } from '../compile/resource-plan.js';

type SchemaRole =
  | 'record'
  | 'written'
  | 'partial'
  | 'page'
  | 'create'
  | 'update'
  | 'replace'
  | 'change'
  | 'items'
  | 'results'
  | 'removals';

/** Names of a resource in a document. */
export interface ResourceNames {
  /** `BlogPost` */
  readonly one: string;
  /** `BlogPosts` */
  readonly many: string;
  /** `a blog post` */
  readonly phrase: string;
  /** `blog posts` */
  readonly phrases: string;
  /** The names of its schemas. */
  readonly schemas: Readonly<Record<SchemaRole, string>>;
}

/** The names of all resources, in their order. Models of the same name are numbered. */
export function resourceNames(plans: readonly ResourcePlan[]): readonly ResourceNames[] {
  const taken = new Map<string, number>();
  return plans.map(({ info, pagination, relations }) => {
    const name = pascalCase(info.name);
    const count = (taken.get(name) ?? 0) + 1;
    taken.set(name, count);
    const suffix = count === 1 ? '' : String(count);
    const one = `${name}${suffix}`;
    const words = toWords(info.name);
    return {
      one,
      many: `${pascalCase(info.pluralName)}${suffix}`,
      phrase: `${/^[aeiou]/.test(words) ? 'an' : 'a'} ${words}`,
      phrases: toWords(info.pluralName),
      schemas: {
        record: `${one}Read`,
        // The answer of a write has no relations.
        written: `${one}${relations.include.size === 0 ? 'Read' : 'Written'}`,
        partial: `${one}Partial`,
        page: `${one}${pagination === 'offset' ? 'Page' : 'CursorPage'}`,
        create: `${one}Create`,
        update: `${one}Update`,
        replace: `${one}Replace`,
        change: `${one}Change`,
        items: `${one}Items`,
        results: `${one}Results`,
        removals: `${one}Deleted`,
      },
    };
  });
}

/** `summarizeReviews` -> `summarize reviews` */
export function toWords(name: string): string {
  return kebabCase(name).replaceAll('-', ' ');
}

/** Converts a name to letters and digits, as code generators need it. */
export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
