/**
 * The texts of ids of several attributes: the parts in order, joined by commas. `~0 ~1 ~2 ~3` in a part are `~ / , \` (as in JSON
 * Pointer, RFC 6901), so that no path has a slash in it, and no two ids have one text.
 */
import type { ColumnType } from './column-type.js';
import { isMoment, localText, momentOf, toExpandedYear, wireMoment } from './exact-time.js';
import type { RowKey } from './model-info.js';

const ESCAPES: readonly string[] = ['~', '/', ',', '\\'];

/** Joins parts. */
export function joinParts(parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll(/[~/,\\]/g, (found) => `~${ESCAPES.indexOf(found)}`)).join(',');
}

/** Splits a text into parts; null where `joinParts` writes no such text. */
export function splitParts(text: string): readonly string[] | null {
  if (/~(?![0-3])|[/\\]/.test(text)) return null;
  const parts = text.split(',');
  if (!text.includes('~')) return parts;
  return parts.map((part) => part.replaceAll(/~[0-3]/g, (found) => ESCAPES[Number(found[1])] as string));
}

/**
 * The text of an id; null where a part of it is missing, so that nothing addresses the row.
 *
 * @param id of one attribute its value, of several an object of values, or of the texts that PostgreSQL writes for them
 */
export function idText(key: RowKey, id: unknown): string | null {
  const [first, second] = key;
  if (first && !second) return partText(first.type, id);
  const values = Object(id) as Readonly<Record<string, unknown>>;
  const parts = key.map(({ name, type }) => partText(type, values[name]));
  return parts.length === 0 || parts.includes(null) ? null : joinParts(parts as readonly string[]);
}

/** The same of the texts that PostgreSQL writes for the parts, in their order. */
export function idTextOfTexts(key: RowKey, texts: readonly (string | null | undefined)[]): string | null {
  if (key.length === 1) return idText(key, texts[0]);
  return idText(key, Object.fromEntries(key.map(({ name }, index) => [name, texts[index]])));
}

/** The same as `idText`, percent-encoded for a path. A comma and a tilde are legal there as they are (RFC 3986, 3.3). */
export function idSegment(key: RowKey, id: unknown): string | null {
  const text = idText(key, id);
  if (text === null) return null;
  const encoded = encodeURIComponent(text);
  return key.length === 1 ? encoded : encoded.replaceAll('%2C', ',');
}

function partText(type: ColumnType, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  switch (type.kind) {
    case 'boolean':
      return String(value).startsWith('t') ? 'true' : 'false';
    case 'dateonly':
      return toExpandedYear(String(value));
    case 'date':
      return momentText(value, type.zone);
    default:
      return String(value);
  }
}

function momentText(value: unknown, zone: string | undefined): string {
  const moment = isMoment(value) ? value : momentOf(String(value), zone);
  if (!moment) return String(value);
  return zone === undefined ? wireMoment(moment) : localText(moment, zone);
}
