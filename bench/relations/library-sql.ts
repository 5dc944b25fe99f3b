/** The page that everybody written by hand reads, and what is asked of the library by value. */
import type { LibraryQuery } from './library-http.js';
import { BOOK, columnsOf, WRITER } from './library-rows.js';

/** A page without its relations: one row more tells whether there is a next one. */
export interface PageSql {
  /** Tells statements apart. */
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
