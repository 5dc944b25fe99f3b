/** A page of records -> the envelope of a list. Always an object, with the same keys in every answer. */
import type { Page } from '../persistence/page.js';
import type { RecordSerializer, WireRecord } from './record-serializer.js';

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

/** Wraps one page by number. */
export function offsetEnvelope(
  { items, total, page, size }: Page<object>,
  serialize: RecordSerializer,
): OffsetEnvelope {
  const pages = Math.ceil(total / size);
  return {
    items: items.map(serialize),
    total,
    page,
    size,
    pages,
    has_next: page < pages,
    has_prev: page > 1 && total > 0,
  };
}
