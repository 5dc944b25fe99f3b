/** The messages that execute a prepared statement, in one buffer: Bind, Execute and Sync (PostgreSQL's manual, 53.7). */

const BIND = 0x42;
/** Execute of the unnamed portal without a limit, and Sync. */
const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);
/** Type, length, the empty name of the portal, the end of the statement's name, three counts. */
const FIXED_LENGTH = 1 + 4 + 1 + 1 + 2 + 2 + 2;

/** Encodes an execution with values as texts, whose results are texts too. The name is ASCII. */
export function encodeExecution(name: string, values: readonly (string | null)[]): Buffer {
  let bindLength = FIXED_LENGTH + name.length;
  for (const value of values) bindLength += 4 + (value === null ? 0 : Buffer.byteLength(value));
  const buffer = Buffer.allocUnsafe(bindLength + EXECUTE_AND_SYNC.length);
  buffer[0] = BIND;
  buffer.writeInt32BE(bindLength - 1, 1);
  buffer[5] = 0;
  let at = 6 + buffer.write(name, 6, 'latin1');
  buffer[at] = 0;
  // No formats: all parameters are texts.
  buffer.writeInt16BE(0, at + 1);
  buffer.writeInt16BE(values.length, at + 3);
  at += 5;
  for (const value of values) at = writeValue(buffer, value, at);
  // No formats: all results are texts.
  buffer.writeInt16BE(0, at);
  EXECUTE_AND_SYNC.copy(buffer, at + 2);
  return buffer;
}

function writeValue(buffer: Buffer, value: string | null, at: number): number {
  if (value === null) return buffer.writeInt32BE(-1, at);
  const length = buffer.write(value, at + 4);
  buffer.writeInt32BE(length, at);
  return at + 4 + length;
}
