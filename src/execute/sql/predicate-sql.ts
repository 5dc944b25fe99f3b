/** A predicate -> a condition. Identifiers come from the model, values stay values. */

import type { JsonType } from '../../declare/crud-options.js';
import { type OperatorRow, operatorRow } from '../../declare/filter-operators.js';
import { type AttributeInfo, type RecordInfo, XMIN } from '../../describe/model-info.js';
import { isBareColumn, isOuterValue } from '../../operation/predicates.js';
import type {
  Comparison,
  FragmentFilter,
  Predicate,
  RelatedFilter,
  Value,
  WrittenFilter,
} from '../../request/query/predicate.js';
import { keptIn } from '../../util/memo.js';
import { quoteText } from '../../util/quote-text.js';
import { arrayLiteral } from './encode-parameter.js';
import { boundText, identifier, joinSql, raw, type SqlFragment, sql, tableSource } from './sql-fragment.js';

/**
 * Writes the SQL of a column.
 *
 * @param on the columns of the operator that compares it; `bare` for a column that no attribute has. Default: an equality or an order
 */
export type ColumnSql = (attribute: string, on?: ComparedOn) => SqlFragment;

type ComparedOn = OperatorRow['on'] | 'bare';

/** Columns of a model, qualified with the alias that its table has in the query. */
export function columnsOf(info: RecordInfo, alias: string): ColumnSql {
  return (name, on) => {
    const attribute = on === 'bare' ? bare(name) : attributeOf(info, name);
    return raw(`${identifier(alias)}.${identifier(attribute.column)}${comparedCast(attribute, on)}`);
  };
}

/** The same, not qualified. */
export function bareColumnsOf(info: RecordInfo): ColumnSql {
  return (name, on) => {
    const attribute = on === 'bare' ? bare(name) : attributeOf(info, name);
    return raw(`${identifier(attribute.column)}${comparedCast(attribute, on)}`);
  };
}

/**
 * The cast of a column that is compared. PostgreSQL has no operators for a domain over an enum, pads the texts of `char(n)` where a
 * pattern is matched, and has NULL for a row of NULLs.
 */
function comparedCast({ found }: Pick<AttributeInfo, 'found'>, on?: ComparedOn): string {
  if (!found) return '';
  if (found.isDomain && found.labels) return `::${found.baseType}`;
  const isText = (on === 'text' && found.baseType === PADDED) || (on === 'all' && found.isComposite);
  return isText ? '::text' : '';
}

/** The base type of `char(n)`, whose texts PostgreSQL pads with blanks that mean nothing. As `text` they have none. */
const PADDED = 'character';

function bare(column: string): Pick<AttributeInfo, 'column' | 'found'> {
  return { column };
}

/** A column that is selected, not qualified. */
export function selectedColumn(attribute: AttributeInfo): SqlFragment {
  return raw(`${identifier(attribute.column)}${selectedCast(attribute)}`);
}

/** The cast of a column that is selected. */
export function selectedCast({ found }: Pick<AttributeInfo, 'found'>): string {
  return found?.baseType === PADDED ? '::text' : '';
}

/** System columns of every table of PostgreSQL, which no model has: no column can have this name. */
const SYSTEM: ReadonlyMap<string, AttributeInfo> = new Map([
  [
    XMIN,
    {
      name: XMIN,
      column: XMIN,
      type: { kind: 'bigint' },
      role: 'version',
      nullable: false,
      hasDefault: true,
    },
  ],
]);

/** @throws TypeError for a name that the model does not have */
export function attributeOf({ attributes, name: model }: RecordInfo, name: string): AttributeInfo {
  const attribute = attributes.get(name) ?? SYSTEM.get(name);
  if (attribute === undefined) throw new TypeError(`${model} has no attribute '${name}'.`);
  return attribute;
}

/**
 * Compiles a predicate.
 *
 * @param depth how many subqueries are around it
 */
export function compilePredicate(predicate: Predicate, column: ColumnSql, depth = 0): SqlFragment {
  if (predicate.kind === 'comparison') return compileComparison(predicate, column);
  if (predicate.kind === 'written') return compileWritten(predicate, column);
  if (predicate.kind === 'sql') return compileFragment(predicate, column);
  if (predicate.kind === 'exists') {
    const row = selectRow(predicate, column, depth);
    return predicate.isNegated ? sql`NOT EXISTS (${row})` : sql`EXISTS (${row})`;
  }
  const operands = predicate.operands.map((operand) => sql`(${compilePredicate(operand, column, depth)})`);
  return joinSql(operands, predicate.kind === 'and' ? ' AND ' : ' OR ');
}

/**
 * Selects the row that has to be there.
 *
 * @param outer the columns of the row around it; left out where its key is not compared with them
 * @param shown the selected columns. Default: none, only the existence of the row
 */
export function selectRow(
  { target, key, value, more = [], where }: RelatedFilter<Value>,
  outer: ColumnSql = noOuterRow,
  depth = 0,
  shown: (column: ColumnSql) => ShownSql = () => ANY_ROW,
): SqlFragment {
  const isOuter = isOuterValue(value);
  // A table may be joined with itself. PostgreSQL cuts the end of a long name.
  const alias = isOuter ? `${depth + 1}.${target.name}` : target.name;
  const column = columnsOf(target, alias);
  const table = tableSource(target, alias);
  const condition = where ? sql` AND (${compilePredicate(where, column, depth + 1)})` : raw('');
  const { columns, tail } = shown(column);
  const pairs = [{ key, value }, ...more].map((pair) => equalSql(target, pair, column, outer));
  return sql`SELECT ${columns} FROM ${table} WHERE ${joinSql(pairs, ' AND ')}${condition}${tail}`;
}

function equalSql(
  target: RecordInfo,
  { key, value }: Pick<RelatedFilter<Value>, 'key' | 'value'>,
  column: ColumnSql,
  outer: ColumnSql,
): SqlFragment {
  if (isOuterValue(value)) return sql`${column(key)} = ${outer(value.attribute)}`;
  const { kind } = attributeOf(target, key).type;
  // An integer beyond the range of the column is an error, and not no row.
  const cast = raw(kind === 'integer' || kind === 'bigint' ? '::int8' : '');
  return sql`${column(key)} = ${value}${cast}`;
}

/** Columns of a SELECT, and the clauses behind its condition. */
interface ShownSql {
  readonly columns: SqlFragment;
  readonly tail: SqlFragment;
}

const ANY_ROW: ShownSql = Object.freeze({ columns: raw('1'), tail: raw('') });

function compileFragment({ texts, parts }: FragmentFilter<Value>, column: ColumnSql): SqlFragment {
  const filled = parts.map((part, index) => {
    const value = isOuterValue(part)
      ? column(part.attribute)
      : isBareColumn(part)
        ? column(part.column, 'bare')
        : part;
    return sql`${value}${raw(texts[index + 1] ?? '')}`;
  });
  return joinSql([raw(texts[0] ?? ''), ...filled], '');
}

/** In other statements the table has an alias, so the row is selected once more under the name of the table. */
function compileWritten({ target, text }: WrittenFilter, column: ColumnSql): SqlFragment {
  const own = columnsOf(target, target.name);
  const keys = target.model.primaryKeyAttributes;
  const [key = missingKey(target)] = keys;
  if (own(key).texts[0] === column(key).texts[0]) return raw(text);
  const same = keys.map((each) => sql`${own(each)} = ${column(each)}`);
  const table = tableSource(target, target.name);
  return sql`EXISTS (SELECT 1 FROM ${table} WHERE ${joinSql(same, ' AND ')} AND (${raw(text)}))`;
}

function missingKey({ name }: RecordInfo): never {
  throw new TypeError(`${name} has a default scope, and no primary key to find its rows by.`);
}

function noOuterRow(attribute: string): never {
  throw new TypeError(`There is no row around the subquery that has '${attribute}'.`);
}

function compileComparison(comparison: Comparison<Value>, column: ColumnSql): SqlFragment {
  const { attribute, jsonType, operator, values, toMilliseconds } = comparison;
  if (jsonType === undefined) {
    const compared = column(attribute, operatorRow(operator).on);
    const equality = toMilliseconds ? equalMoments(comparison, compared) : undefined;
    return equality ?? compare(comparison, compared);
  }
  const { isThere, value } = jsonPathSql(attribute, jsonType, column);
  if (operator !== '=isnull=') return sql`(${isThere} AND ${compare(comparison, value)})`;
  return values[0] === 'true' ? sql`(${isThere}) IS NOT TRUE` : isThere;
}

function compare({ operator, values, ofRange }: Comparison<Value>, column: SqlFragment): SqlFragment {
  const [first = '', second = ''] = values;
  const { sql: condition } = operatorRow(operator, ofRange);
  const parts = piecesOf(
    typeof condition === 'string' ? condition : condition[first === 'true' ? 'true' : 'false'],
  );
  return joinSql(
    parts.map((part) => {
      if (part === '{column}') return column;
      if (part === '{value}') return sql`${first}`;
      if (part === '{high}') return sql`${second}`;
      return part === '{list}' ? sql`${arrayValue(values)}` : raw(part);
    }),
    '',
  );
}

/** Conditions of the operators, split at their places. */
const pieces = new Map<string, readonly string[]>();

function piecesOf(condition: string): readonly string[] {
  return keptIn(pieces, condition, () => condition.split(/(\{(?:column|value|high|list)\})/));
}

const REST = raw("interval '999 microseconds'");

/**
 * The equality of a moment of which an answer shows the milliseconds only: a value without microseconds is equal to all moments of its
 * millisecond. Undefined for another operator. A range of the column is added, so that an index serves the condition.
 */
function equalMoments({ operator, values }: Comparison<Value>, column: SqlFragment): SqlFragment | undefined {
  const whole = sql`date_trunc('milliseconds', ${column})`;
  const [first = ''] = values;
  const value = sql`${first}::timestamptz`;
  const last = sql`CASE WHEN date_trunc('milliseconds', ${value}) = ${value} THEN ${value} + ${REST} ELSE ${value} END`;
  const list = (): SqlFragment => sql`${arrayValue(values)}::timestamptz[]`;
  switch (operator) {
    case '==':
      return sql`${column} BETWEEN ${value} AND ${last}`;
    case '!=':
      return sql`${column} NOT BETWEEN ${value} AND ${last}`;
    case '=in=': {
      const bounds = sql`(SELECT min(v) FROM unnest(${list()}) AS v) AND (SELECT max(v) + ${REST} FROM unnest(${list()}) AS v)`;
      return sql`${column} BETWEEN ${bounds} AND (${column} = ANY(${list()}) OR ${whole} = ANY(${list()}))`;
    }
    case '=out=':
      return sql`${column} <> ALL(${list()}) AND ${whole} <> ALL(${list()})`;
    default:
      return undefined;
  }
}

/** The text of an array of bound values, or the slot that holds one. */
export function arrayValue(values: readonly Value[]): Value {
  const [first] = values;
  if (values.length === 1 && typeof first === 'object') return first;
  return arrayLiteral(values.map(boundText));
}

/** A value inside of JSONB. Keys are the application's own, in the place of texts: `"details" -> 'pages' ->> 'count'`. */
interface JsonPathSql {
  /** True in SQL where the value exists, and is of the type of the path. */
  readonly isThere: SqlFragment;
  /**
   * Value that is compared. Nothing is cast, so that no row can fail. Numbers and booleans stay JSON, which has their
   * order; the text of each is JSON, too. The form is that of the indexes which people have.
   */
  readonly value: SqlFragment;
}

/** Results of `jsonb_typeof`. */
const TYPES = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/** The SQL of a path. @param path an attribute and keys: `details.pages.count` */
export function jsonPathSql(path: string, jsonType: JsonType, column: ColumnSql): JsonPathSql {
  const [attribute = '', ...keys] = path.split('.');
  const value = insideSql(attribute, keys, column, '->');
  // The planner estimates that few rows meet `= 'string'`, and so that the whole condition finds nearly none.
  const others = arrayLiteral(TYPES.filter((each) => each !== jsonType));
  return {
    isThere: sql`jsonb_typeof${value} <> ALL(${raw(quoteText(others))})`,
    value: jsonType === 'string' ? jsonTextSql(attribute, keys, column) : value,
  };
}

/** The text of a value inside of JSONB, of any type. */
export function jsonTextSql(attribute: string, keys: readonly string[], column: ColumnSql): SqlFragment {
  return insideSql(attribute, keys, column, '->>');
}

function insideSql(
  attribute: string,
  keys: readonly string[],
  column: ColumnSql,
  last: '->' | '->>',
): SqlFragment {
  const quoted = keys.map((key) => raw(quoteText(key)));
  const steps = joinSql([column(attribute), ...quoted.slice(0, -1)], ' -> ');
  return sql`(${steps} ${raw(last)} ${quoted.at(-1) ?? raw('')})`;
}
