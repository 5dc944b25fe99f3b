/** An aggregate -> the SELECT of its groups. */
import type { AttributeInfo, RecordInfo } from '../../describe/model-info.js';
import { placedColumns } from '../../execute/session/select-values.js';
import {
  attributeOf,
  type ColumnSql,
  columnsOf,
  compilePredicate,
  selectedCast,
} from '../../execute/sql/predicate-sql.js';
import { joinOrder } from '../../execute/sql/sort-sql.js';
import { joinSql, raw, type SqlFragment, sql, tableSource } from '../../execute/sql/sql-fragment.js';
import { type AggregateOperation, COUNT, type GroupTerm, type MeasureTerm } from './aggregate-operation.js';
import { isMoment } from './aggregate-types.js';
import { attributeOfGroup } from './related-group.js';

const ROWS = raw('count(*)');

/** Digits behind the point of an average. */
const AVERAGE_DIGITS = 10;
/** A quotient has as many digits behind the point; `avg` has 16 digits in all, too few for large numbers. */
const EXACT_ZERO = raw(`0.${'0'.repeat(30)}`);

/**
 * Compiles the SELECT: a column for each group, the number of rows, and a column for each measure. It finds one group more than the page
 * has, if there is one.
 */
export function compileAggregateSql(info: RecordInfo, operation: AggregateOperation): SqlFragment {
  const { where, group, measures, having, order, window, zone } = operation;
  const column = columnsOf(info, info.name);
  const measured = new Map([
    [COUNT, ROWS],
    ...measures.map((term) => [term.name, measureSql(term, info, column)] as const),
  ]);
  const { joins, places } = joinOrder(
    group.flatMap(({ key }) => key ?? []),
    column,
  );
  const groupOf = (term: GroupTerm) => {
    const at = term.key && places.get(term.key)?.at;
    return at ? shownValue(attributeOfGroup(info, term), at) : groupSql(term, info, column, zone);
  };
  const columns = [...group.map(groupOf), ...measured.values()];
  const names = [...group.map(({ name }) => name), ...measured.keys()];
  const missing = group.filter(({ name }) => !order.some((each) => each.name === name));
  const total = [...order, ...missing.map(({ name }) => ({ name, descending: false }))];
  const numbers = total.map(
    ({ name, descending }) => `${names.indexOf(name) + 1}${descending ? ' DESC' : ''}`,
  );
  const clauses = [
    sql`SELECT ${placedColumns(columns)} ${rowsSql(info, where, column, joins)}`,
    ...(group.length === 0 ? [] : [raw(`GROUP BY ${group.map((_, index) => index + 1).join(', ')}`)]),
    ...(having ? [sql`HAVING ${compilePredicate(having, (name) => measured.get(name) ?? ROWS)}`] : []),
    ...(numbers.length === 0 ? [] : [raw(`ORDER BY ${numbers.join(', ')}`)]),
    raw(`LIMIT ${window.size + 1} OFFSET ${(window.page - 1) * window.size}`),
  ];
  return joinSql(clauses, ' ');
}

/** Compiles the question how many rows PostgreSQL believes to group. */
export function compileEstimateSql(info: RecordInfo, { where }: AggregateOperation): SqlFragment {
  return sql`EXPLAIN (FORMAT JSON) SELECT 1 ${rowsSql(info, where, columnsOf(info, info.name))}`;
}

function rowsSql(
  info: RecordInfo,
  where: AggregateOperation['where'],
  column: ColumnSql,
  joins: readonly SqlFragment[] = [],
): SqlFragment {
  const condition = where ? sql` WHERE ${compilePredicate(where, column)}` : raw('');
  return sql`FROM ${tableSource(info, info.name)}${joinSql(joins, '')}${condition}`;
}

function groupSql(
  { attribute: name, unit }: GroupTerm,
  info: RecordInfo,
  column: ColumnSql,
  zone: string | null,
): SqlFragment {
  const attribute = attributeOf(info, name);
  if (unit === null) return shownValue(attribute, column(name));
  const span = raw(`'${unit}'`);
  // An hour of autumn comes twice, and is two moments; all longer spans are those of the clocks of the zone.
  if (isMoment(attribute) && unit === 'hour')
    return sql`date_trunc(${span}, ${column(name)}, ${zone ?? 'UTC'})`;
  if (attribute.type.kind === 'dateonly' && (attribute.found?.baseType ?? 'date') === 'date')
    return daySpan(span, column(name));
  if (isMoment(attribute)) return momentSpan(span, column(name), zone ?? 'UTC');
  return sql`date_trunc(${span}, ${column(name)}::timestamp)${raw(unit === 'hour' ? '' : '::date')}`;
}

/**
 * The first day of a span of moments. The clocks of a zone may be beyond the last `timestamp` then. A late moment is moved back by a hundred
 * cycles of 400 years, and its day forth: each has 146,097 days, which are whole weeks.
 */
function momentSpan(span: SqlFragment, moment: SqlFragment, zone: string): SqlFragment {
  const start = (of: SqlFragment) => sql`date_trunc(${span}, (${of}) AT TIME ZONE ${zone})::date`;
  const moved = sql`${start(sql`${moment} - interval '350632800 hours'`)} + 14609700`;
  return sql`CASE WHEN ${moment} < '290000-01-01' OR ${moment} = 'infinity' THEN ${start(moment)} ELSE ${moved} END`;
}

/**
 * The first day of a span of days. `timestamp` ends before `date` does, in the year 294276. A later day is moved by as many cycles of 400
 * years as have passed: each has 146,097 days, which are whole weeks.
 */
function daySpan(span: SqlFragment, day: SqlFragment): SqlFragment {
  const start = (of: SqlFragment) => sql`date_trunc(${span}, (${of})::timestamp)::date`;
  const cycles = sql`(${day} - date '2000-01-01') / 146097 * 146097`;
  const moved = sql`${start(sql`${day} - ${cycles}`)} + ${cycles}`;
  return sql`CASE WHEN ${day} < '290000-01-01' OR ${day} = 'infinity' THEN ${start(day)} ELSE ${moved} END`;
}

/** The value as answers show it: moments have milliseconds there. */
function shownValue(attribute: AttributeInfo, column: SqlFragment): SqlFragment {
  if (attribute.type.kind === 'date') return sql`date_trunc('milliseconds', ${column})`;
  return sql`${column}${raw(selectedCast(attribute))}`;
}

function measureSql(
  { measure, attribute: name }: MeasureTerm,
  info: RecordInfo,
  column: ColumnSql,
): SqlFragment {
  const attribute = attributeOf(info, name);
  const value = column(name);
  const isFloat = attribute.type.kind === 'float';
  switch (measure) {
    case 'sum':
      // A sum of `real` would lose digits.
      return isFloat ? sql`sum(${value}::float8)` : sql`sum(${value})::numeric`;
    case 'avg':
      return isFloat
        ? sql`avg(${value}::float8)`
        : sql`trim_scale(round((sum(${value})::numeric + ${EXACT_ZERO}) / nullif(count(${value}), 0), ${raw(String(AVERAGE_DIGITS))}))`;
    case 'countDistinct':
      return sql`count(DISTINCT ${shownValue(attribute, value)})`;
    default:
      return sql`${raw(measure)}(${value})${raw(selectedCast(attribute))}`;
  }
}
