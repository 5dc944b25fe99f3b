/** Holds the attributes that a request may not read, while its answer is made, which is synchronous. */

/** The attributes of a model that are left out; null where it is not known. */
export type RecordMasks = (model: object) => readonly string[] | null;

let current: RecordMasks | null = null;

/** Makes an answer, or a part of one, for a request that may not read everything. */
export function withMasks<T>(masks: RecordMasks, work: () => T): T {
  const before = current;
  current = masks;
  try {
    return work();
  } finally {
    current = before;
  }
}

/** The attributes of a model that are left out now. Where nothing says otherwise, none that has a rule leaves. */
export function maskOf(model: object, restricted: readonly string[]): readonly string[] {
  return restricted.length === 0 ? restricted : (current?.(model) ?? restricted);
}
