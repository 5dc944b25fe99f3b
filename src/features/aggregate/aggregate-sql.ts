/** An aggregate -> the SELECT of its groups. */
import type { RecordInfo } from '../../describe/model-info.js';
import { columnAt } from '../../execute/session/select-values.js';
import { attributeOf, columnsOf, compilePredicate, selectedCast } from '../../execute/sql/predicate-sql.js';
import {
  identifier,
  joinSql,
  raw,
  type SqlFragment,
  sql,
  tableSource,
} from '../../execute/sql/sql-fragment.js';
import type { AggregateOperation } from './aggregate-operation.js';

/** Compiles the SELECT: a column for each group, then the number of rows. It finds one group more than the page has, if there is one. */
export function compileAggregateSql(
  info: RecordInfo,
  { where, group, order, window: { page, size } }: AggregateOperation,
): SqlFragment {
  const column = columnsOf(info, info.name);
  const groups = group.map(
    ({ attribute }) => sql`${column(attribute)}${raw(selectedCast(attributeOf(info, attribute)))}`,
  );
  const columns = [...groups, raw('count(*)')].map(
    (each, index) => sql`${each} AS ${raw(identifier(columnAt(index)))}`,
  );
  const found = where ? sql` WHERE ${compilePredicate(where, column)}` : raw('');
  const numbers = group.map((_, index) => String(index + 1)).join(', ');
  const grouped = group.length === 0 ? raw('') : raw(` GROUP BY ${numbers}`);
  const places = order.map(({ name, descending }) => {
    const place = raw(String(group.findIndex((each) => each.name === name) + 1));
    return descending ? sql`${place} DESC` : place;
  });
  const ordered = places.length === 0 ? raw('') : sql` ORDER BY ${joinSql(places, ', ')}`;
  const limited = raw(` LIMIT ${size + 1}${page > 1 ? ` OFFSET ${(page - 1) * size}` : ''}`);
  return sql`SELECT ${joinSql(columns, ', ')} FROM ${tableSource(info, info.name)}${found}${grouped}${ordered}${limited}`;
}
