/** The bytes of a file -> its text, piece by piece: within a limit, in UTF-8, and each part of it in time. */
import { isUtf8 } from 'node:buffer';
import { BodyError } from '../../schema/request-issue.js';

/** A text that comes all at once is handed on in pieces of so many bytes. */
const PIECE = 64 * 1024;

/** Mark that a file may begin with. */
const BYTE_ORDER_MARK = '\ufeff';

/** Bytes that follow the first one of a character, by its four highest bits. */
const FOLLOWING = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3];

/**
 * Decodes a file. Characters may lie across two pieces.
 *
 * @param maxBytes after decompression
 * @throws BodyError 400 with the offset of the first byte that is no UTF-8, 413 where the file is larger than the limit
 */
export async function* decodeFile(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  let offset = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of piecesOf(source)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, piece]) : piece;
    if (offset + bytes.length > maxBytes) throw tooLarge(maxBytes);
    const end = bytes.length - openBytes(bytes);
    const whole = bytes.subarray(0, end);
    if (!isUtf8(whole)) throw notUtf8(offset + validBytes(whole));
    const text = whole.toString();
    yield offset === 0 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
    offset += end;
    rest = bytes.subarray(end);
  }
  if (rest.length > 0) throw notUtf8(offset);
}

async function* piecesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const each of source) {
    const bytes = Buffer.from(each.buffer, each.byteOffset, each.byteLength);
    for (let from = 0; from < bytes.length; from += PIECE) yield bytes.subarray(from, from + PIECE);
  }
}

/** Number of bytes at the end that begin a character without ending it. */
function openBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0xc0) !== 0x80) return (FOLLOWING[byte >> 4] as number) >= back ? back : 0;
  }
  return 0;
}

/** Number of bytes before the first one that is no UTF-8. */
function validBytes(bytes: Buffer): number {
  let [low, high] = [0, bytes.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const head = bytes.subarray(0, middle);
    if (isUtf8(head.subarray(0, middle - openBytes(head)))) low = middle;
    else high = middle - 1;
  }
  return low - openBytes(bytes.subarray(0, low));
}

function notUtf8(offset: number): BodyError {
  const detail = `The body is not valid UTF-8 at the byte ${offset}, counted from 0; save the file as UTF-8, and send it again.`;
  return new BodyError(400, 'encoding', detail);
}

/** The error of a file that is larger than the option allows. */
export function tooLarge(maxBytes: number): BodyError {
  return new BodyError(413, 'tooLarge', `The body is larger than ${maxBytes} bytes.`);
}
