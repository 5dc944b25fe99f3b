/** The page that all hand-written contenders read, and its filters. */
import type { LibraryQuery } from './library-http.js';
import { BOOK, columnsOf, WRITER } from './library-rows.js';

/** A page without its relations. One row more than its size shows that there is a next page. */
export interface PageSql {
  /** The name of the prepared statement. */
  readonly name: string;
  readonly text: string;
  readonly order: string;
  readonly values: unknown[];
}

export function pageSql({ table, size, isDescending, country, category }: LibraryQuery): PageSql {
  const order = isDescending ? 'id DESC' : 'id';
  const alias = table === 'books' ? 'b' : 'w';
  const columns = columnsOf(table === 'books' ? BOOK : WRITER, alias);
  const [filter, value] =
    table === 'books' && country !== null
      ? ['WHERE "writerId" IN (SELECT id FROM writers WHERE country = $2)', country]
      : table === 'writers' && category !== null
        ? ['WHERE id IN (SELECT "writerId" FROM books WHERE category = $2)', category]
        : ['', null];
  return {
    name: `${table}-${order}${filter && '-filtered'}`,
    text: `SELECT ${columns} FROM ${table} AS ${alias} ${filter} ORDER BY ${alias}.${order} LIMIT $1`,
    order,
    values: value === null ? [size + 1] : [size + 1, value],
  };
}
