/** Everything that reaches PostgreSQL, read off the wire: the statements of our own protocol, of Sequelize and of anything else. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** One execution; a statement without parameters has no values. */
export interface SentStatement {
  readonly text: string;
  /** The texts of `$1` and so on. */
  readonly values: readonly (string | null)[];
}

/** Stands between an engine and its server, and remembers what the engine sends. */
export class StatementTap implements AsyncDisposable {
  /** The address of the server by way of this. */
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #sent: SentStatement[];

  private constructor(direct: string, server: Server, sockets: Set<Socket>, sent: SentStatement[]) {
    const url = new URL(direct);
    url.port = String((server.address() as AddressInfo).port);
    this.url = url.href;
    this.#server = server;
    this.#sockets = sockets;
    this.#sent = sent;
  }

  /** Starts one in front of a server of this machine. */
  static async start(direct: string): Promise<StatementTap> {
    const port = Number(new URL(direct).port);
    const sockets = new Set<Socket>();
    const sent: SentStatement[] = [];
    const server = createServer({ noDelay: true }, (client) => {
      const target = connect({ port, host: '127.0.0.1', noDelay: true });
      const reader = new FrontendReader((statement) => sent.push(statement));
      client.on('data', (chunk) => {
        reader.push(chunk);
        target.write(chunk);
      });
      target.on('data', (chunk) => client.write(chunk));
      for (const [socket, other] of [
        [client, target],
        [target, client],
      ] as const) {
        sockets.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new StatementTap(direct, server, sockets, sent);
  }

  /** What was sent since the last call. */
  take(): SentStatement[] {
    return this.#sent.splice(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** Reads the messages of one connection (PostgreSQL, "Message Formats"). */
class FrontendReader {
  readonly #tell: (statement: SentStatement) => void;
  readonly #prepared = new Map<string, string>();
  #rest: Buffer = Buffer.alloc(0);
  /** The first message has no type. */
  #typeLength = 0;

  constructor(tell: (statement: SentStatement) => void) {
    this.#tell = tell;
  }

  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= this.#typeLength + 4) {
      const end = this.#typeLength + this.#rest.readInt32BE(this.#typeLength);
      if (this.#rest.length < end) return;
      const type = this.#rest.toString('latin1', 0, this.#typeLength);
      this.#message(type, this.#rest.subarray(this.#typeLength + 4, end));
      this.#rest = this.#rest.subarray(end);
      this.#typeLength = 1;
    }
  }

  #message(type: string, body: Buffer): void {
    if (type === 'Q') this.#tell({ text: textAt(body, 0).text, values: [] });
    if (type === 'P') {
      const name = textAt(body, 0);
      this.#prepared.set(name.text, textAt(body, name.end).text);
    }
    if (type === 'B') {
      const name = textAt(body, textAt(body, 0).end);
      this.#tell({ text: this.#prepared.get(name.text) ?? '', values: valuesAt(body, name.end) });
    }
  }
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
