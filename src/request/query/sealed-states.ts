/** States of records, and places in lists, as texts for clients that may not read them: only the application's secret can open them. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** Makes and reads such texts. A text is good for one record; `null` is the state of one without a version. */
export interface SealedStates {
  seal(state: string | null, record: string): string;
  /** Undefined for a text that no application with these secrets has made for the record. */
  open(text: string, record: string): bigint | null | undefined;
}

/** AES of one block, which is a permutation: the same state of the same record is the same text. */
const CIPHER = 'aes-256-ecb';
const TEXT = /^[\w-]{22}$/;
/** No version is negative. */
const NONE = -1n;

/** The secret without one of the application's, valid as long as the process lives. */
const OWN_SECRET = randomBytes(32).toString('base64url');

/** @param secrets the first seals, all of them open */
export function createSealedStates(secrets: readonly string[]): SealedStates {
  const keys = keysOf(secrets, 'states of records');
  return Object.freeze({
    seal(state: string | null, record: string): string {
      const block = Buffer.alloc(16);
      block.writeBigInt64BE(state === null ? NONE : BigInt(state));
      markOf(record).copy(block, 8);
      const cipher = createCipheriv(CIPHER, keys[0], null).setAutoPadding(false);
      return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url');
    },
    open(text: string, record: string): bigint | null | undefined {
      if (!TEXT.test(text)) return undefined;
      const sealed = Buffer.from(text, 'base64url');
      const mark = markOf(record);
      for (const key of keys) {
        const decipher = createDecipheriv(CIPHER, key, null).setAutoPadding(false);
        const block = Buffer.concat([decipher.update(sealed), decipher.final()]);
        const state = block.readBigInt64BE();
        if (block.subarray(8).equals(mark)) return state === NONE ? null : state;
      }
      return undefined;
    },
  });
}

/** Makes and reads texts of any length. The same text is sealed as the same one. */
export interface SealedTexts {
  seal(text: string): string;
  /** Undefined for a text that no application with these secrets has made. */
  open(sealed: string): string | undefined;
}

const STREAM = 'aes-256-ctr';
const MARK_LENGTH = 16;

/** @param secrets the first seals, all of them open */
export function createSealedTexts(secrets: readonly string[]): SealedTexts {
  const keys = keysOf(secrets, 'places in lists');
  // A digest of the text begins the stream (RFC 5297), so that no two texts have the same one.
  const startOf = (text: Buffer, key: Buffer) =>
    createHmac('sha256', key).update(text).digest().subarray(0, MARK_LENGTH);
  return Object.freeze({
    seal(text: string): string {
      const bytes = Buffer.from(text);
      const start = startOf(bytes, keys[0]);
      const cipher = createCipheriv(STREAM, keys[0], start);
      return Buffer.concat([start, cipher.update(bytes), cipher.final()]).toString('base64url');
    },
    open(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length <= MARK_LENGTH) return undefined;
      const start = bytes.subarray(0, MARK_LENGTH);
      for (const key of keys) {
        const decipher = createDecipheriv(STREAM, key, start);
        const text = Buffer.concat([decipher.update(bytes.subarray(MARK_LENGTH)), decipher.final()]);
        if (timingSafeEqual(startOf(text, key), start)) return text.toString();
      }
      return undefined;
    },
  });
}

function keysOf(secrets: readonly string[], purpose: string): [Buffer, ...Buffer[]] {
  const [first = OWN_SECRET, ...others] = secrets;
  return [first, ...others].map((secret) =>
    createHash('sha256').update(`${purpose}\0${secret}`).digest(),
  ) as [Buffer, ...Buffer[]];
}

function markOf(record: string): Buffer {
  return Buffer.from(hash('sha256', record, 'hex').slice(0, 16), 'hex');
}
