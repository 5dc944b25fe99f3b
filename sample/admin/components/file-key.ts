/** An `Idempotency-Key` for each file that is under way. It outlives a lost connection, and a reload of the page. */

const PREFIX = 'upload ';

/** The key of a file. @param identity the same for the same file, sent in the same way */
export function keyOf(identity: string): string {
  const kept = sessionStorage.getItem(PREFIX + identity);
  if (kept !== null) return kept;
  const key = newKey();
  sessionStorage.setItem(PREFIX + identity, key);
  return key;
}

/** A key that nobody has. It is not kept. */
export function newKey(): string {
  // `randomUUID` is there on https alone.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** True for a file that was sent before, and whose end nobody has seen. */
export function isUnderWay(identity: string): boolean {
  return sessionStorage.getItem(PREFIX + identity) !== null;
}

/** Forgets it, because the import has a result: who sends the file once more means another import. */
export function forgetKey(identity: string): void {
  sessionStorage.removeItem(PREFIX + identity);
}
