/** Everything that reaches PostgreSQL, read off the wire: the statements of our own protocol, of Sequelize and of anything else. */
import { TcpProxy } from './tcp-proxy.js';

/** One execution; a statement without parameters has no values. */
export interface SentStatement {
  readonly text: string;
  /** The texts of `$1` and so on. */
  readonly values: readonly (string | null)[];
}

/** A proxy between an engine and its server: it remembers the statements of the engine, and counts the rows that the server sends. */
export class StatementTap implements AsyncDisposable {
  readonly #proxy: TcpProxy;
  readonly #sent: SentStatement[] = [];
  #rows = 0;

  private constructor(proxy: TcpProxy) {
    this.#proxy = proxy;
    proxy.watch = () => ({
      sent: statementReader((statement) => this.#sent.push(statement)),
      received: messageReader(1, (type) => {
        if (type === 'D') this.#rows += 1;
      }),
    });
  }

  /** Starts one in front of a server of this machine. */
  static async start(direct: string): Promise<StatementTap> {
    return new StatementTap(await TcpProxy.before(direct));
  }

  /** The address of the server by way of this. */
  get url(): string {
    return this.#proxy.href;
  }

  /** Statements since the last call. */
  take(): SentStatement[] {
    return this.#sent.splice(0);
  }

  /** Number of rows that the server has sent since the last call. */
  takeRows(): number {
    const rows = this.#rows;
    this.#rows = 0;
    return rows;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#proxy[Symbol.asyncDispose]();
  }
}

/**
 * Reads the messages of one direction of a connection (PostgreSQL, "Message Formats").
 *
 * @param typeLength of the first message: 0 where it has no type
 */
function messageReader(
  typeLength: number,
  tell: (type: string, body: Buffer) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let before = typeLength;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= before + 4) {
      const end = before + rest.readInt32BE(before);
      if (rest.length < end) return;
      tell(rest.toString('latin1', 0, before), rest.subarray(before + 4, end));
      rest = rest.subarray(end);
      before = 1;
    }
  };
}

/** Reads the messages of a client. */
function statementReader(tell: (statement: SentStatement) => void): (chunk: Buffer) => void {
  const prepared = new Map<string, string>();
  return messageReader(0, (type, body) => {
    if (type === 'Q') tell({ text: textAt(body, 0).text, values: [] });
    if (type === 'P') {
      const name = textAt(body, 0);
      prepared.set(name.text, textAt(body, name.end).text);
    }
    if (type === 'B') {
      const name = textAt(body, textAt(body, 0).end);
      tell({ text: prepared.get(name.text) ?? '', values: valuesAt(body, name.end) });
    }
  });
}

function textAt(body: Buffer, from: number): { readonly text: string; readonly end: number } {
  const end = body.indexOf(0, from);
  return { text: body.toString('utf8', from, end), end: end + 1 };
}

function valuesAt(body: Buffer, from: number): (string | null)[] {
  let at = from + 2 + 2 * body.readInt16BE(from);
  const values: (string | null)[] = [];
  const count = body.readInt16BE(at);
  at += 2;
  for (let index = 0; index < count; index += 1) {
    const length = body.readInt32BE(at);
    at += 4;
    values.push(length < 0 ? null : body.toString('utf8', at, at + length));
    at += Math.max(length, 0);
  }
  return values;
}
