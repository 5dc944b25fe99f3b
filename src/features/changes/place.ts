/** Places in a feed: the events that a client has got so far. Cursors hold them. */
import { hash } from 'node:crypto';
import type { ResourcePlan, SortTerm } from '../../compile/resource-plan.js';
import { type CursorCodec, type CursorScope, InvalidCursorError } from '../../request/query/cursor-codec.js';
import { InvalidQueryError, InvalidRequestError } from '../../schema/request-issue.js';
import type { Tick, Ticks } from '../capture/ticks.js';

/**
 * A place: behind an event of a window, which has the events that one tick does not see and another one does, or behind all of a tick, where both ends
 * are the same. Also the part of the window behind it.
 */
export interface Place {
  readonly from: Tick;
  readonly to: Tick;
  readonly after: bigint;
}

/** The place behind all that a tick sees. */
export function behind(tick: Tick): Place {
  return Object.freeze({ from: tick, to: tick, after: 0n });
}

/** Members of a cursor: two ticks, an event between them, and a digest of the second tick's snapshot. */
const MEMBERS: readonly SortTerm[] = ['changes.from', 'changes.to', 'changes.after', 'changes.snapshot'].map(
  (attribute) => Object.freeze({ attribute, descending: false }),
);

/** Makes and reads the cursors of one feed. */
export type PlaceCodec = ReturnType<typeof placeCodec>;

/**
 * A codec.
 *
 * @param digest of the resources, conditions and masks of the feed
 * @param retentions of its events, intervals of PostgreSQL
 */
export function placeCodec(
  cursors: CursorCodec,
  plan: ResourcePlan,
  digest: readonly unknown[],
  retentions: readonly string[],
) {
  const scope: CursorScope = { plan, sort: MEMBERS, digest: ['changes', ...digest] };
  return {
    encode({ from, to, after }: Place): string {
      const values = [String(from.n), String(to.n), String(after), bitsOf(to)];
      return cursors.encode({ values, isInclusive: false }, scope);
    },
    /** @throws InvalidQueryError for a text that is no cursor @throws ExpiredCursorError */
    async decode(cursor: string, ticks: Ticks): Promise<Place> {
      const [first, second, after, bits] = decodeValues(cursors, cursor, scope);
      const to = await ticks.find(Number(second), retentions);
      const from = first === second ? to : await ticks.find(Number(first), retentions);
      if (!from || !to || bitsOf(to) !== bits) throw new ExpiredCursorError();
      return Object.freeze({ from, to, after: BigInt(after ?? 0) });
    },
  };
}

function decodeValues(cursors: CursorCodec, cursor: string, scope: CursorScope): readonly (string | null)[] {
  try {
    return cursors.decode(cursor, scope, 'after').values;
  } catch (error) {
    if (!(error instanceof InvalidCursorError)) throw error;
    // Of another feed: its rows, its filter or its rights are others by now.
    if (error.errors.some(({ code }) => code === 'cursor.mismatch')) throw new ExpiredCursorError();
    throw new InvalidQueryError([{ parameter: 'after', code: 'cursor.malformed', detail: MALFORMED }]);
  }
}

/** 32 bits. */
function bitsOf({ snap }: Tick): string {
  return hash('sha256', snap, 'hex').slice(0, 8);
}

const MALFORMED =
  'This is no cursor of a feed; take it unchanged from next_cursor or from the id of an event, or send now or start.';

const DETAIL =
  'The cursor goes on no more: its events are gone, or it is of another feed. Take a new one with after=now, then read the lists again.';

/** A cursor from which no feed can go on: 410. */
class ExpiredCursorError extends InvalidRequestError {
  override readonly name = 'ExpiredCursorError';

  constructor() {
    super(410, 'request', [{ parameter: 'after', code: 'changes.expired', detail: DETAIL }]);
  }
}
