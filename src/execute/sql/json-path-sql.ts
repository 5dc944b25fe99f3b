/** A value inside of JSONB. Keys are the application's own, in the place of texts: `"details" -> 'pages' ->> 'count'`. */
import type { JsonType } from '../../declare/crud-options.js';
import { arrayLiteral } from './encode-parameter.js';
import { joinSql, quoteText, raw, type SqlFragment, sql } from './sql-fragment.js';

/** A value inside of a column. */
export interface JsonPathSql {
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

/**
 * The SQL of a path.
 *
 * @param path an attribute and keys: `details.pages.count`
 * @param column the SQL of an attribute
 */
export function jsonPathSql(
  path: string,
  jsonType: JsonType,
  column: (attribute: string) => SqlFragment,
): JsonPathSql {
  const [attribute = '', ...keys] = path.split('.');
  const quoted = keys.map((key) => raw(quoteText(key)));
  const steps = joinSql([column(attribute), ...quoted.slice(0, -1)], ' -> ');
  const last = quoted.at(-1) ?? raw('');
  const value = sql`(${steps} -> ${last})`;
  // Of `= 'string'` the planner believes that few rows meet it, and so that the whole condition finds next to nothing.
  const others = arrayLiteral(TYPES.filter((each) => each !== jsonType));
  return {
    isThere: sql`jsonb_typeof${value} <> ALL(${raw(quoteText(others))})`,
    value: jsonType === 'string' ? sql`(${steps} ->> ${last})` : value,
  };
}
