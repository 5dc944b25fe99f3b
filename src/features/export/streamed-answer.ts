/** An answer that is written in pieces, as its client takes them. It ends whole, or its connection is cut, which clients see. */
import type { Response } from 'express';
import { isDraining } from '../../express/server/express-server.js';
import { pendingBytes } from '../../request/node-internals.js';
import { cutConnection } from '../../respond/cut-connection.js';

/** Reason of an answer that was cut. */
export class CutAnswer extends Error {
  override readonly name = 'CutAnswer';

  /** @param isByClient true where the client has gone, so that no error is sent */
  constructor(
    message: string,
    readonly isByClient = false,
  ) {
    super(message);
  }
}

/** Milliseconds in which a client has to take something. */
const PATIENCE = 60_000;
/** Milliseconds between two checks. */
const STEP = 500;

/** An answer in pieces. */
export class StreamedAnswer {
  readonly #response: Response;
  /** Why it was cut; null where it was not. */
  #cut: CutAnswer | null = null;
  #isEnded = false;
  /** Continues a write that waits for its client. */
  #taken: (() => void) | null = null;
  readonly #timer: NodeJS.Timeout;
  readonly #deadline: NodeJS.Timeout | undefined;
  #pending = 0;
  #since = 0;

  /** @param seconds after which it is cut; null is never */
  constructor(response: Response, seconds: number | null) {
    this.#response = response;
    // Added once, because compression would keep each listener.
    response.on('drain', () => this.#resume());
    response.on('close', () => {
      if (!this.#isEnded) this.#cut ??= new CutAnswer('The client has gone.', true);
      this.#resume();
      this.#stopTimers();
    });
    this.#timer = setInterval(() => this.#check(), STEP).unref();
    if (seconds !== null)
      this.#deadline = setTimeout(
        () => this.cut(new CutAnswer(`It has taken more than ${seconds} seconds (export.snapshot).`)),
        seconds * 1_000,
      ).unref();
    // `close` was emitted before there was a listener.
    if (response.destroyed) {
      this.#cut = new CutAnswer('The client has gone.', true);
      this.#stopTimers();
    }
  }

  /** Throws where it was cut. */
  check(): void {
    if (this.#cut) throw this.#cut;
  }

  /** Writes a piece; ends when the client has taken enough. @throws CutAnswer */
  async write(text: string): Promise<void> {
    this.check();
    // As a stream of Node's: the response of an adapter without a socket returns nothing, and has no `drain`.
    if (text === '' || this.#response.write(Buffer.from(text)) !== false) return;
    this.#since = performance.now();
    this.#pending = this.#unsent;
    await new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
    this.check();
  }

  /** Sends written bytes, where a middleware keeps them back to compress them. */
  flush(): void {
    (this.#response as { flush?: () => void }).flush?.();
  }

  /** Before more is read. @throws CutAnswer where the server is about to stop */
  goOn(): void {
    if (isDraining(this.#response.req.app)) this.cut(ending());
    this.check();
  }

  end(): void {
    this.check();
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    this.#response.end();
  }

  /** Cuts the connection, so that no client takes the answer for a whole one. */
  cut(reason: CutAnswer): void {
    if (this.#cut || this.#response.writableFinished) return;
    this.#cut = reason;
    this.#resume();
    cutConnection(this.#response);
  }

  #stopTimers(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#deadline);
  }

  #resume(): void {
    const taken = this.#taken;
    this.#taken = null;
    taken?.();
  }

  get #unsent(): number {
    return pendingBytes(this.#response.req.socket);
  }

  /** Ends the wait for a client that takes nothing, and any wait where the server is about to stop. */
  #check(): void {
    if (!this.#taken) return;
    if (isDraining(this.#response.req.app)) {
      this.cut(ending());
      return;
    }
    const pending = this.#unsent;
    // An answer before it on the same connection has its own time.
    if (pending !== this.#pending || this.#response.socket === null) {
      this.#pending = pending;
      this.#since = performance.now();
    } else if (performance.now() - this.#since >= PATIENCE)
      this.cut(new CutAnswer(`The client has taken nothing for ${PATIENCE / 1_000} seconds.`));
  }
}

function ending(): CutAnswer {
  return new CutAnswer('The server is about to stop.');
}
