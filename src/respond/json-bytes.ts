/** A long JSON text as bytes, which are outside of V8's heap, in pieces. */
import { createHash } from 'node:crypto';
import { RefusedRequestError } from '../operation/refused-request-error.js';
import { hasRoom, TOO_MUCH_UNSENT } from './unsent-bytes.js';

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
    if (!hasRoom(this.#length)) throw new RefusedRequestError(503, TOO_MUCH_UNSENT, { 'Retry-After': '1' });
    this.pieces.push(bytes);
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
