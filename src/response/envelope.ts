/** A page of records -> the envelope of a list. Always an object, with the same keys in every answer. */
import type { OffsetPage, Page } from '../persistence/paging/page.js';
import type { Keyset } from '../query/keyset.js';
import type { WireRecord } from './record-serializer.js';

/** The offset envelope. */
export interface OffsetEnvelope {
  readonly items: readonly WireRecord[];
  readonly total: number;
  readonly page: number;
  readonly size: number;
  readonly pages: number;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

/** The cursor envelope. */
export interface CursorEnvelope {
  readonly items: readonly WireRecord[];
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

/** Wraps one page by number. */
export function offsetEnvelope({ items, total, page, size }: OffsetPage<WireRecord>): OffsetEnvelope {
  const pages = Math.ceil(total / size);
  return { items, total, page, size, pages, has_next: page < pages, has_prev: page > 1 && total > 0 };
}

/** Either of them. */
export type Envelope = OffsetEnvelope | CursorEnvelope;

/**
 * Wraps a page around items as they leave.
 *
 * @param encode makes the cursor of a place
 */
export function envelopeOf(
  page: Page<unknown>,
  kind: 'offset' | 'cursor',
  items: readonly WireRecord[],
  encode: (place: Keyset) => string,
): Envelope {
  if (kind === 'offset') return offsetEnvelope({ ...(page as OffsetPage<unknown>), items: [...items] });
  const cursorOf = (place: Keyset | null | undefined) => (place ? encode(place) : null);
  const next = cursorOf(page.next);
  const prev = cursorOf(page.prev);
  // There is a neighbour exactly where there is a cursor to it.
  return { items, next_cursor: next, prev_cursor: prev, has_next: next !== null, has_prev: prev !== null };
}

const NO_ITEMS = '{"items":[]';

/** The JSON text of an envelope with the texts of its items, which are not in it. The items come first in every envelope. */
export function envelopeJson(envelope: Envelope, items: readonly string[]): string {
  let text = '';
  // Not `join`, which copies every text once more.
  for (const item of items) text += text === '' ? item : `,${item}`;
  return `{"items":[${text}]${JSON.stringify(envelope).slice(NO_ITEMS.length)}`;
}
