/** A value that came over the wire -> what the model holds, by column type. */
import type { ColumnType } from '../model/column-type.js';
import { parseBase64, parseTimestamp } from './wire-value.js';

/**
 * A value of a body as the model holds it: dates as `Date`, binary data as `Buffer`, UUIDs in lower case. A value
 * that breaks the column's rules is returned as it came, for the rules to refuse.
 */
export function parseColumnValue(type: ColumnType, value: unknown): unknown {
  if (type.kind === 'array' && Array.isArray(value)) {
    return value.map((element) => parseColumnValue(type.element, element));
  }
  if (typeof value !== 'string') return value;
  switch (type.kind) {
    case 'date':
      return parseTimestamp(value) ?? value;
    case 'blob':
      return parseBase64(value) ?? value;
    case 'uuid':
      return value.toLowerCase();
    default:
      return value;
  }
}
