/** An HTTP/1.1 client that sends requests on one connection without waiting for the answers before them. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer as it came. */
export interface PipelinedAnswer {
  readonly status: number;
  readonly connection: string | undefined;
  readonly body: string;
}

/** A request, and the answer to it where there was one. */
export interface PipelinedRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  answer?: PipelinedAnswer;
}

/** Keeps the same number of requests under way until the server ends the connection. */
export class PipeliningClient {
  /** In the order they were sent. */
  readonly sent: PipelinedRequest[] = [];
  /** Received text that is no whole answer yet. */
  rest = '';
  /** Why the connection was lost; undefined where the server ended it in order. */
  error: Error | undefined;
  answered = 0;
  readonly #socket: Socket;
  readonly #next: () => PipelinedRequest;
  readonly #closed: Promise<unknown>;

  private constructor(socket: Socket, next: () => PipelinedRequest) {
    this.#socket = socket;
    this.#next = next;
    this.#closed = once(socket, 'close');
    socket.on('error', (error) => {
      this.error = error;
    });
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      this.rest += chunk;
      const before = this.answered;
      while (this.#readAnswer());
      // As many again, in one piece.
      this.sendNext(this.answered - before);
    });
  }

  /** Connects, and sends the first requests. */
  static async start(port: number, depth: number, next: () => PipelinedRequest): Promise<PipeliningClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const client = new PipeliningClient(socket, next);
    client.sendNext(depth);
    return client;
  }

  /** The requests that have no answer. */
  get unanswered(): PipelinedRequest[] {
    return this.sent.slice(this.answered);
  }

  async untilAnswered(count: number): Promise<void> {
    while (this.answered < count) await once(this.#socket, 'data');
  }

  /** Resolves when the connection is closed. */
  async untilClosed(): Promise<void> {
    await this.#closed;
  }

  /** Sends so many more, as long as the server has not ended the connection. */
  sendNext(count = 1): void {
    if (!this.#socket.writable) return;
    const requests = Array.from({ length: count }, this.#next);
    this.sent.push(...requests);
    this.#socket.write(requests.map(format).join(''));
  }

  /** Takes one whole answer off the received text. */
  #readAnswer(): boolean {
    const end = this.rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const head = this.rest.slice(0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (this.rest.length < end + 4 + length) return false;
    const request = this.sent[this.answered];
    if (!request) throw new Error(`There is no request to the answer: ${this.rest}`);
    request.answer = {
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
      connection: /^connection: (.*)$/im.exec(head)?.[1],
      body: this.rest.slice(end + 4, end + 4 + length),
    };
    this.rest = this.rest.slice(end + 4 + length);
    this.answered += 1;
    return true;
  }
}

/** A request as it is sent. */
export function format({ method, path, body }: PipelinedRequest): string {
  const content =
    body === undefined ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${content}\r\n${body ?? ''}`;
}
