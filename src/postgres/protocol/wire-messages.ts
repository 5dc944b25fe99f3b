/**
 * The frequent messages of PostgreSQL's protocol (its manual, 53.7). The messages of prepared statements are written into one
 * buffer: Bind and Execute for each execution, and one Sync. Their answers are read here, and all other messages are passed on to
 * the driver. Its own reader makes a text of each value out of the bytes, which is a sixth of all the time of a page of 20.
 * Here each row becomes one text, of which the values are parts.
 */
import type { Execution, TextRow, TextValues } from './batch.js';

const PARSE = 0x50;
const BIND = 0x42;
/** Execute of the unnamed portal, without a limit. */
const EXECUTE = Uint8Array.of(0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0);
const SYNC = Uint8Array.of(0x53, 0, 0, 0, 4);
/** Type, length, the empty name, the end of the text, and no types of parameters. */
const PARSE_LENGTH = 1 + 4 + 1 + 1 + 2;
/** Type, length, the empty name of the portal, the end of the statement's name, three counts. */
const FIXED_LENGTH = 1 + 4 + 1 + 1 + 2 + 2 + 2;
const PARSE_COMPLETE = 0x31;
const BIND_COMPLETE = 0x32;
const CLOSE_COMPLETE = 0x33;
const COMMAND_COMPLETE = 0x43;
const DATA_ROW = 0x44;
/** Bytes of the type and the length of a message. The length counts itself. */
const HEAD = 5;
const NOTHING = Buffer.alloc(0);

interface PrecedingExecution {
  readonly statement: { readonly name: string; readonly text: string };
  readonly values: TextValues;
}

/**
 * Encodes executions with values as texts, whose results are texts too. Names are ASCII.
 *
 * @param before statements that are executed first; those without a name are parsed, too
 */
export function serializeExecutions(
  name: string,
  executions: readonly Pick<Execution, 'values'>[],
  before: readonly PrecedingExecution[],
): Buffer {
  let length = SYNC.length;
  for (const { statement, values } of before) {
    if (statement.name === '') length += PARSE_LENGTH + Buffer.byteLength(statement.text);
    length += bindLength(statement.name, values) + EXECUTE.length;
  }
  for (const { values } of executions) length += bindLength(name, values) + EXECUTE.length;
  const buffer = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { statement, values } of before) {
    if (statement.name === '') at = writeParse(buffer, statement.text, at);
    at = writeExecution(buffer, statement.name, values, at);
  }
  for (const { values } of executions) at = writeExecution(buffer, name, values, at);
  buffer.set(SYNC, at);
  return buffer;
}

function writeParse(buffer: Buffer, text: string, start: number): number {
  buffer[start] = PARSE;
  // The empty name.
  buffer[start + 5] = 0;
  const at = start + 6 + buffer.write(text, start + 6);
  buffer[at] = 0;
  const end = buffer.writeInt16BE(0, at + 1);
  buffer.writeInt32BE(end - start - 1, start + 1);
  return end;
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

/** Handler of the answers to a query. */
export interface BackendMessageHandler {
  /** The length is that of the message. */
  handleDataRow(message: { readonly fields: TextRow; readonly length: number }): void;
  handleCommandComplete(message: { readonly text: string }): void;
}

/** Parser of the bytes that arrive on one connection. */
export class BackendMessageParser {
  readonly #currentHandler: () => BackendMessageHandler | null;
  readonly #passOn: (bytes: Buffer) => void;
  /** True where messages begin at the expected bytes; undefined before the first bytes. */
  #isInStep: boolean | undefined;
  /** Handler of the next message; undefined after a message that may have changed it. */
  #handler: BackendMessageHandler | null | undefined;
  /** Bytes that are still to come of a message which is passed on. */
  #missing = 0;
  /** The beginning of a head. */
  #held: Buffer = NOTHING;

  /**
   * For a connection at rest that is about to prepare a statement.
   *
   * @param currentHandler handler of the answers to the current query; null where the driver is to read them
   */
  constructor(currentHandler: () => BackendMessageHandler | null, passOn: (bytes: Buffer) => void) {
    this.#currentHandler = currentHandler;
    this.#passOn = passOn;
  }

  read(chunk: Buffer): void {
    this.#isInStep ??= beginsWithPreparing(chunk);
    if (this.#isInStep) this.#readMessages(chunk);
    else this.#passOn(chunk);
  }

  #readMessages(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let done = 0;
    let at = this.#missing;
    while (at + HEAD <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1);
      const type = bytes[at];
      if (type !== DATA_ROW && type !== BIND_COMPLETE && type !== COMMAND_COMPLETE) this.#handler = undefined;
      else if (end <= bytes.length && this.#handler !== null) {
        // Messages before it may change the handler.
        if (done < at) this.#passOn(bytes.subarray(done, at));
        done = at;
        this.#handler ??= this.#currentHandler();
        if (this.#handler !== null) {
          dispatch(this.#handler, type, bytes, at, end);
          done = end;
        }
      }
      at = end;
    }
    // A message that has not arrived whole is the driver's to put together, once its length was read.
    const until = Math.min(at, bytes.length);
    this.#missing = at - until;
    this.#held = until < bytes.length ? bytes.subarray(until) : NOTHING;
    if (done < until) this.#passOn(bytes.subarray(done, until));
  }
}

/**
 * The first answer of a connection that was at rest: that a statement is prepared, or that none has its name any more. An
 * announcement may have come before it, and not whole.
 */
function beginsWithPreparing(bytes: Buffer): boolean {
  const [type] = bytes;
  const isExpected = type === PARSE_COMPLETE || type === CLOSE_COMPLETE;
  return bytes.length >= HEAD && isExpected && bytes.readUInt32BE(1) === HEAD - 1;
}

function dispatch(
  handler: BackendMessageHandler,
  type: number,
  bytes: Buffer,
  start: number,
  end: number,
): void {
  if (type === DATA_ROW)
    handler.handleDataRow({ fields: readRow(bytes, start + HEAD, end), length: end - start });
  // The text ends with a zero.
  else if (type === COMMAND_COMPLETE) {
    handler.handleCommandComplete({ text: bytes.toString('latin1', start + HEAD, end - 1) });
  }
}

/** The values of a row, each with its length before it; -1 is NULL. */
function readRow(bytes: Buffer, start: number, end: number): TextRow {
  const fields: (string | null)[] = new Array(bytes.readUInt16BE(start));
  const text = bytes.toString('latin1', start, end);
  /** Bytes above 127, which UTF-8 needs two of, that are no part of a value. */
  let high = highBytes(fields.length);
  let at = start + 2;
  for (let index = 0; index < fields.length; index += 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length > 0x7f || length < 0) high += highBytes(length);
    fields[index] = length < 0 ? null : text.slice(at - start, at - start + length);
    if (length > 0) at += length;
  }
  const isAscii = Buffer.byteLength(text) - text.length === high;
  return isAscii ? fields : decodeRow(bytes, start, fields);
}

/** Number of bytes, of the four of a number, with their highest bit set. */
function highBytes(number: number): number {
  return ((number >>> 31) & 1) + ((number >>> 23) & 1) + ((number >>> 15) & 1) + ((number >>> 7) & 1);
}

const NON_ASCII = /[\x80-\xff]/;

/** Reads those that are more than ASCII again, as UTF-8. */
function decodeRow(bytes: Buffer, start: number, fields: (string | null)[]): TextRow {
  let at = start + 2;
  for (const [index, field] of fields.entries()) {
    at += 4;
    if (field === null) continue;
    const end = at + field.length;
    if (NON_ASCII.test(field)) fields[index] = bytes.toString('utf8', at, end);
    at = end;
  }
  return fields;
}
