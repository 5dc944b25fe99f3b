/** The text that PostgreSQL sent for a value -> its JSON text, by column type: the same bytes as over the driver's value. */

import type { ColumnType } from '../describe/column-type.js';
import type { TextParser } from '../postgres/index.js';
import { type WireFormat, wireFormat } from './wire-format.js';

/** Turns the text of a value that is not NULL into JSON text. */
export type TextFormat = (text: string) => string;

/** PostgreSQL's text of a moment when the time zone is UTC, in the years that RFC 3339 can write. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;
/** Minimum length of a moment that has milliseconds. */
const PRECISE_LENGTH = '2026-01-31 08:00:00.123+00'.length;

/**
 * The format of a column. The driver's parser is tried once on a text of the kind. Where the value is the usual one, texts are
 * written directly; else, as after `pg.types.setTypeParser`, the driver's value is.
 *
 * @param toWire converts the driver's value to JSON
 */
export function textFormat(
  type: ColumnType,
  parse: TextParser,
  toWire: WireFormat = wireFormat(type),
): TextFormat {
  const direct = directFormat(type);
  const throughValue: TextFormat = (text) => valueJson(toWire, parse(text));
  if (!direct) return throughValue;
  const { format, probes } = direct(throughValue);
  return probes.every((probe) => isSame(probe, format, throughValue)) ? format : throughValue;
}

/** A driver's parser of another type, or a user's, may throw at a text that is no value of its type. */
function isSame(probe: string, format: TextFormat, throughValue: TextFormat): boolean {
  try {
    return format(probe) === throughValue(probe);
  } catch {
    return false;
  }
}

function valueJson(toWire: WireFormat, value: unknown): string {
  return JSON.stringify(toWire(value)) ?? 'null';
}

/** A short cut, and texts for which its result must be that of the driver's value. */
interface Direct {
  readonly format: TextFormat;
  readonly probes: readonly string[];
}

/** The short cut for a kind of column, if it has one; a value that it cannot write goes the long way. */
function directFormat(type: ColumnType): ((throughValue: TextFormat) => Direct) | undefined {
  switch (type.kind) {
    case 'integer':
      // A table may have floats where the model has integers: `NaN`, `1e+20` and `-0` are other texts in JSON.
      return (throughValue) => ({
        format: (text) => (INTEGER.test(text) ? text : throughValue(text)),
        probes: ['0', '-7', '2147483647'],
      });
    case 'float':
      return () => ({ format: numberJson, probes: ['0.1', '-12.75', '-0', '1e+20', 'NaN', '-Infinity'] });
    case 'boolean':
      return () => ({ format: (text) => (text === 't' ? 'true' : 'false'), probes: ['t', 'f'] });
    case 'bigint':
      return quotedWhere(['0', '-9223372036854775808']);
    case 'decimal':
      return quotedWhere(['0', '-1.50', '12345678901234567890.1', 'NaN']);
    case 'uuid':
      return quotedWhere(['0f8fad5b-d9cb-469f-a165-70867728950e']);
    case 'time':
      return quotedWhere(['08:00:00', '24:00:00', '08:00:00.000001']);
    case 'string':
    case 'enum':
      return () => ({ format: stringJson, probes: ['', 'a ', 'a "b" \\ \n', '\u{1f600}', '12', 't', '{1}'] });
    case 'date':
      if (type.zone !== undefined)
        return (throughValue) => ({
          format: (text) => localJson(text) ?? throughValue(text),
          probes: ['2026-01-31 08:00:00', '0099-12-31 23:59:59.9999', '2026-01-31 08:00:00.12'],
        });
      return (throughValue) => ({
        format: (text) => timestampJson(text) ?? throughValue(text),
        probes: ['2026-01-31 08:00:00+00', '0099-12-31 23:59:59.9999+00', '2026-01-31 08:00:00.001999+00'],
      });
    case 'dateonly':
      return (throughValue) => ({
        format: (text) => (DATE_ONLY.test(text) ? `"${text}"` : throughValue(text)),
        probes: ['2026-01-31', '0001-01-01'],
      });
    default:
      return undefined;
  }
}

/** Integers that are the same in JSON. PostgreSQL may write a float in this form, too. */
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;
const DATE_ONLY = /^\d{4}-\d\d-\d\d$/;
/** Texts without letters that a wire format may change, and without anything to escape. A table may have texts here. */
const PLAIN = /^[0-9a-f:.-]*$/;

function quotedWhere(probes: readonly string[]): (throughValue: TextFormat) => Direct {
  return (throughValue) => ({
    format: (text) => (PLAIN.test(text) ? `"${text}"` : throughValue(text)),
    probes,
  });
}

/** Numbers with so few digits, and no needless ones, are the same in JSON. */
const SHORT_NUMBER = /^(?:0|-?[1-9]\d{0,8}|-?(?:0|[1-9]\d{0,8})\.\d{0,5}[1-9])$/;

const numberJson: TextFormat = (text) => {
  if (SHORT_NUMBER.test(text)) return text;
  const value = Number(text);
  return Number.isFinite(value) ? String(value) : `"${value}"`;
};

/** The format of texts. Lone surrogates cannot come from a database in UTF-8. */
export const stringJson: TextFormat = (text) =>
  NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that JSON escapes (RFC 8259, section 7)
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

/** PostgreSQL's text of a clock without a zone. */
const LOCAL = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?$/;

function localJson(text: string): string | undefined {
  if (!LOCAL.test(text)) return undefined;
  return `"${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20).padEnd(3, '0')}"`;
}

function timestampJson(text: string): string | undefined {
  if (!TIMESTAMP.test(text)) return undefined;
  const day = text.slice(0, 10);
  if (text.length >= PRECISE_LENGTH) return `"${day}T${text.slice(11, 23)}Z"`;
  return `"${day}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z"`;
}
