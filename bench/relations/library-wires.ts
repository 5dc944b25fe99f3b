/** The requests of each API for records with related rows. */
import type { Answer, Call } from '../load/call.js';

/** Names of the workloads. */
export type RelationWorkload =
  | 'books20'
  | 'writers20'
  | 'one20'
  | 'many20'
  | 'hot20'
  | 'nested20'
  | 'byOne20'
  | 'byAny20';

/** An API over the library. */
export interface LibraryWire {
  /** @param value that is filtered by, where the workload filters */
  list(workload: RelationWorkload, value: string): Call;
  items(answer: Answer): unknown;
}

/** The API of the hand-written contenders. */
export const handWritten: LibraryWire = wireOf({
  books20: () => '/books?size=20',
  writers20: () => '/writers?size=20',
  one20: () => '/books?size=20&include=writer',
  many20: () => '/writers?size=20&include=books',
  hot20: () => '/writers?size=20&order=desc&include=books',
  nested20: () => '/writers?size=20&include=books.publisher',
  byOne20: (country) => `/books?size=20&country=${country}`,
  byAny20: (category) => `/writers?size=20&category=${category}`,
});

export const ours: LibraryWire = wireOf({
  books20: () => '/books?sort=id&size=20',
  writers20: () => '/writers?size=20',
  one20: () => '/books?sort=id&size=20&include=writer',
  many20: () => '/writers?size=20&include=books',
  hot20: () => '/writers?sort=-id&size=20&include=books',
  nested20: () => '/writers?size=20&include=books,books.publisher',
  byOne20: (country) => `/books?sort=id&size=20&q=writer.country==${country}`,
  byAny20: (category) => `/writers?size=20&q=books=any=(category==${category})`,
});

/** Its joins have neither limit nor order beside that of the page; the contender sorts and cuts the joined rows. */
export const nest: LibraryWire = {
  ...wireOf({
    books20: () => '/books?limit=20&sort=id,ASC',
    writers20: () => '/writers?limit=20&sort=id,ASC',
    one20: () => '/books?limit=20&sort=id,ASC&join=writer',
    many20: () => '/writers?limit=20&sort=id,ASC&join=books',
    hot20: () => '/writers?limit=20&sort=id,DESC&join=books',
    nested20: () => '/writers?limit=20&sort=id,ASC&join=books&join=books.publisher',
    byOne20: (country) =>
      `/books?limit=20&sort=id,ASC&join=writer||id&filter=writer.country||$eq||${country}`,
    byAny20: (category) =>
      `/writers?limit=20&sort=id,ASC&join=books||id&filter=books.category||$eq||${category}`,
  }),
  items: ({ body }) => body,
};

function wireOf(paths: Readonly<Record<RelationWorkload, (value: string) => string>>): LibraryWire {
  return {
    list: (workload, value) => ({ method: 'GET', path: paths[workload](value) }),
    items: ({ body }) =>
      typeof body === 'object' && body !== null ? (body as Record<string, unknown>)['items'] : undefined,
  };
}
