/**
 * The messages that execute a prepared statement, once or several times, in one buffer: Bind and Execute for each, and one
 * Sync (PostgreSQL's manual, 53.7).
 */
import type { Execution, TextValues } from './batch.js';

const BIND = 0x42;
/** Of the unnamed portal, without a limit. */
const EXECUTE = Uint8Array.of(0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0);
const SYNC = Uint8Array.of(0x53, 0, 0, 0, 4);
/** Type, length, the empty name of the portal, the end of the statement's name, three counts. */
const FIXED_LENGTH = 1 + 4 + 1 + 1 + 2 + 2 + 2;

/** An execution of another statement. */
interface NamedExecution {
  readonly statement: { readonly name: string };
  readonly values: TextValues;
}

/**
 * Encodes executions with values as texts, whose results are texts too. Names are ASCII.
 *
 * @param before what is executed first
 */
export function serializeExecutions(
  name: string,
  executions: readonly Pick<Execution, 'values'>[],
  before: readonly NamedExecution[],
): Buffer {
  let length = SYNC.length;
  for (const { statement, values } of before) length += bindLength(statement.name, values) + EXECUTE.length;
  for (const { values } of executions) length += bindLength(name, values) + EXECUTE.length;
  const buffer = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { statement, values } of before) at = writeExecution(buffer, statement.name, values, at);
  for (const { values } of executions) at = writeExecution(buffer, name, values, at);
  buffer.set(SYNC, at);
  return buffer;
}

function writeExecution(buffer: Buffer, name: string, values: TextValues, start: number): number {
  const at = writeBind(buffer, name, values, start);
  buffer.set(EXECUTE, at);
  return at + EXECUTE.length;
}

function bindLength(name: string, values: TextValues): number {
  let length = FIXED_LENGTH + name.length;
  for (const value of values) length += 4 + (value === null ? 0 : Buffer.byteLength(value));
  return length;
}

function writeBind(buffer: Buffer, name: string, values: TextValues, start: number): number {
  buffer[start] = BIND;
  // The empty name of the portal.
  buffer[start + 5] = 0;
  let at = start + 6 + buffer.write(name, start + 6, 'latin1');
  buffer[at] = 0;
  // No formats: all parameters are texts.
  buffer.writeInt16BE(0, at + 1);
  buffer.writeInt16BE(values.length, at + 3);
  at += 5;
  for (const value of values) at = writeValue(buffer, value, at);
  // No formats: all results are texts.
  at = buffer.writeInt16BE(0, at);
  buffer.writeInt32BE(at - start - 1, start + 1);
  return at;
}

function writeValue(buffer: Buffer, value: string | null, at: number): number {
  if (value === null) return buffer.writeInt32BE(-1, at);
  const length = buffer.write(value, at + 4);
  return buffer.writeInt32BE(length, at) + length;
}
