/** Tells by what PostgreSQL says of prepared statements whether a pooler gives each transaction another connection. */
import { GONE, THERE_ALREADY } from './prepared-statement.js';

/** `DISCARD ALL` on a few connections is none yet. */
const MANY = 20;
/** Milliseconds in which they come. */
const WINDOW = 10_000;

/** The signs of one instance. */
export class PoolerSigns {
  #count = 0;
  #since = Number.NEGATIVE_INFINITY;

  /** Takes what was said of a stale statement; whether that is enough. */
  add(error: Error): boolean {
    const { code } = error as { readonly code?: string };
    // Nobody else has this name, so that it was prepared here, through another connection to the pooler.
    if (code === THERE_ALREADY) return true;
    if (code !== GONE) return false;
    const now = performance.now();
    if (now - this.#since > WINDOW) {
      this.#since = now;
      this.#count = 0;
    }
    this.#count += 1;
    return this.#count >= MANY;
  }
}
