/** A page of records -> the envelope of a list. Always an object, with the same keys in every answer. */
import type { TotalIs } from '../declare/count-options.js';
import type { OffsetPage, Page } from '../execute/page.js';
import type { Keyset } from '../request/query/cursor-codec.js';
import type { WireRecord } from './record-serializer.js';

interface OffsetEnvelope {
  readonly items: readonly WireRecord[];
  readonly total: number | null;
  readonly total_is?: TotalIs;
  readonly page: number;
  readonly size: number;
  readonly pages: number | null;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

interface CursorEnvelope {
  readonly items: readonly WireRecord[];
  readonly total?: number | null;
  readonly total_is?: TotalIs;
  readonly next_cursor: string | null;
  readonly prev_cursor: string | null;
  readonly has_next: boolean;
  readonly has_prev: boolean;
}

/**
 * Wraps one page by number.
 *
 * @param isCounted true where the list shows the kind of its total; else only an exact total is one
 */
export function offsetEnvelope<T>(
  found: OffsetPage<T>,
  isCounted: boolean,
  items: readonly WireRecord[],
): OffsetEnvelope {
  const { page, size } = found;
  const totalIs = found.totalIs ?? (isCounted && typeof found.total !== 'number' ? 'none' : 'exact');
  const total = totalIs === 'exact' || (isCounted && totalIs === 'at_least') ? found.total : null;
  // A total that an override returns in the place of a number is not read.
  const pages = totalIs === 'exact' ? Math.ceil((total as number) / size) : null;
  const { hasNext = pages === null ? found.items.length >= size : page < pages } = found;
  const isPreceded = page > 1 && (pages === null || (total as number) > 0);
  const place = { page, size, pages, has_next: hasNext, has_prev: isPreceded };
  return isCounted ? { items, total, total_is: totalIs, ...place } : { items, total, ...place };
}

/** The number of rows beside cursors. */
function cursorTotals({ total, totalIs }: Page<unknown>): Pick<CursorEnvelope, 'total' | 'total_is'> {
  const is = totalIs ?? (typeof total === 'number' ? 'exact' : 'none');
  return { total: is === 'none' ? null : (total as number), total_is: is };
}

/** Either of them. */
export type Envelope = OffsetEnvelope | CursorEnvelope;

/**
 * Wraps a page around items as they leave.
 *
 * @param isCounted true where the list shows the kind of its total
 * @param encode makes the cursor of a place
 */
export function envelopeOf(
  page: Page<unknown>,
  kind: 'offset' | 'cursor',
  isCounted: boolean,
  items: readonly WireRecord[],
  encode: (place: Keyset) => string,
): Envelope {
  if (kind === 'offset') return offsetEnvelope(page as OffsetPage<unknown>, isCounted, items);
  const cursorOf = (place: Keyset | null | undefined) => (place ? encode(place) : null);
  const next = cursorOf(page.next);
  const prev = cursorOf(page.prev);
  // There is a neighbour exactly where there is a cursor to it.
  const place = { next_cursor: next, prev_cursor: prev, has_next: next !== null, has_prev: prev !== null };
  return isCounted ? { items, ...cursorTotals(page), ...place } : { items, ...place };
}
