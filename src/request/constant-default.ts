/** The default of a column that is the same for every row -> the value that the model holds. */

import { parse } from 'postgres-array';
import { type ColumnType, innermostType } from '../describe/column-type.js';
import { infiniteOf, momentOf } from '../describe/exact-time.js';
import { durationOf } from '../describe/interval-value.js';
import type { AttributeInfo } from '../describe/model-info.js';
import { boundOfText, parseRange } from '../describe/range-value.js';
import { recordValue } from './query/rule-filters.js';

/** The default of a table that is the same for every row, as the model holds it; undefined where there is none. */
export function constantDefault({ found, type }: AttributeInfo): unknown {
  const text = found?.constant ?? null;
  // A column of texts may have a default that begins like an array.
  if (text === null || found?.baseType.endsWith('[]') !== (type.kind === 'array')) return undefined;
  return constantValue(type, text);
}

/** Undefined for a text that has no value of its own here, such as a moment in another `DateStyle`. */
function constantValue(type: ColumnType, text: string): unknown {
  switch (type.kind) {
    case 'boolean':
      return text.startsWith('t');
    case 'json':
      return JSON.parse(text);
    case 'array':
      return arrayValue(type, text);
    case 'date':
      return infiniteOf(text) === undefined ? momentOf(text, type.zone) : text;
    case 'interval':
      return infiniteOf(text) === undefined ? durationOf(text) : text;
    case 'range':
      return type.isText ? text : parseRange(text, (bound) => boundOfText(type.bound, bound));
    case 'blob':
      return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : undefined;
    case 'other':
    case 'virtual':
      return undefined;
    default:
      return recordValue(type, text);
  }
}

/** An array as PostgreSQL writes it. Bounds of its own, and members with another separator, are none that a body has. */
function arrayValue(type: ColumnType, text: string): unknown {
  const element = innermostType(type);
  const isPlain = text.startsWith('{') && !(element.kind === 'named' && element.name === 'box');
  if (text !== '{}' && !isPlain) return undefined;
  let isWhole = true;
  const read = (member: unknown): unknown => {
    if (Array.isArray(member)) return member.map(read);
    const value = member === null ? null : constantValue(element, member as string);
    isWhole &&= value !== undefined;
    return value;
  };
  const values = read(parse(text));
  return isWhole ? values : undefined;
}
