/** The messages that execute a prepared statement, in one buffer: Bind, Execute and Sync (PostgreSQL's manual, 53.7). */

const BIND = 0x42;
/** Execute of the unnamed portal without a limit, and Sync. */
const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
/** Type, length, the empty name of the portal, the end of the statement's name, three counts. */
const FIXED_LENGTH = 1 + 4 + 1 + 1 + 2 + 2 + 2;

/** Encodes an execution with values as texts, whose results are texts too. The name is ASCII. */
export function encodeExecution(name: string, values: readonly (string | null)[]): Buffer {
  let bindLength = FIXED_LENGTH + name.length;
  for (const value of values) bindLength += 4 + (value === null ? 0 : byteLength(value));
  const buffer = Buffer.allocUnsafe(bindLength + EXECUTE_AND_SYNC.length);
  buffer[0] = BIND;
  buffer.writeInt32BE(bindLength - 1, 1);
  buffer[5] = 0;
  let at = writeAscii(buffer, name, 6);
  buffer[at] = 0;
  // No formats: all parameters are texts.
  buffer.writeInt16BE(0, at + 1);
  buffer.writeInt16BE(values.length, at + 3);
  at += 5;
  for (const value of values) at = writeValue(buffer, value, at);
  // No formats: all results are texts.
  buffer.writeInt16BE(0, at);
  buffer.set(EXECUTE_AND_SYNC, at + 2);
  return buffer;
}

/** Most values are keys. For texts as short as those, a call of Node's own functions costs more than what they do. */
const SHORT = 40;

function byteLength(value: string): number {
  return isShortAscii(value) ? value.length : Buffer.byteLength(value);
}

function isShortAscii(value: string): boolean {
  if (value.length > SHORT) return false;
  for (let index = 0; index < value.length; index += 1) if (value.charCodeAt(index) > 0x7f) return false;
  return true;
}

function writeAscii(buffer: Buffer, text: string, at: number): number {
  for (let index = 0; index < text.length; index += 1) buffer[at + index] = text.charCodeAt(index);
  return at + text.length;
}

function writeValue(buffer: Buffer, value: string | null, at: number): number {
  if (value === null) return buffer.writeInt32BE(-1, at);
  const start = at + 4;
  const end = isShortAscii(value) ? writeAscii(buffer, value, start) : start + buffer.write(value, start);
  buffer.writeInt32BE(end - start, at);
  return end;
}
