/** A long JSON text as bytes, which are outside of V8's heap, in pieces. Those that are being sent are counted. */
import { createHash } from 'node:crypto';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { HEAP_LIMIT } from '../persistence/protocol/heap-limit.js';

/** Bytes of long answers that clients have not taken yet. */
const MAX_UNSENT = HEAP_LIMIT / 2;

let unsent = 0;

/** The text of an answer. */
export class JsonBytes {
  readonly pieces: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @throws RefusedRequestError 503 where clients have not taken what they were sent before */
  add(text: string): void {
    const bytes = Buffer.from(text);
    this.#length += bytes.length;
    // One alone may be as long as it is.
    if (unsent > 0 && unsent + this.#length > MAX_UNSENT) {
      throw new RefusedRequestError(503, 'The server has too many large answers to send; try again.', {
        'Retry-After': '1',
      });
    }
    this.pieces.push(bytes);
  }

  /** Counts the bytes, until the function is called that this returns. */
  send(): () => void {
    unsent += this.#length;
    return () => {
      unsent -= this.#length;
    };
  }

  /** The SHA-1 in base64. */
  digest(): string {
    const sha1 = createHash('sha1');
    for (const piece of this.pieces) sha1.update(piece);
    return sha1.digest('base64');
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString();
  }
}
