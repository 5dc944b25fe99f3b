/** Tells subscribers of statements when each begins, is sent and ends. */
import { type StatementMessage, statementChannel } from './channels.js';
import { summarize } from './summarize.js';

/** A statement that subscribers are told of. */
export class StatementTrace {
  readonly #message: StatementMessage;
  readonly #begun = performance.now();
  #sent: number | null = null;
  #isOver = false;

  /** @param isShown whether the text has no values in it */
  constructor(text: string, isShown: boolean) {
    this.#message = {
      summary: summarize(text),
      text: isShown ? text : null,
      wait: null,
      duration: null,
      batchSize: 1,
      rows: null,
    };
    statementChannel.start.publish(this.#message);
    statementChannel.end.publish(this.#message);
  }

  /** It is sent now, for the first time or again. */
  sent(batchSize: number): void {
    this.#sent = performance.now();
    this.#message.wait = this.#sent - this.#begun;
    this.#message.batchSize = batchSize;
  }

  /** It has ended; the first call counts. */
  end(error: unknown, rows: number | null = null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // When it is sent only Sequelize knows.
    const since = this.#message.text === null ? this.#begun : this.#sent;
    if (since !== null) this.#message.duration = performance.now() - since;
    this.#message.rows = rows;
    if (error) {
      this.#message.error = error;
      statementChannel.error.publish(this.#message);
    }
    statementChannel.asyncStart.publish(this.#message);
    statementChannel.asyncEnd.publish(this.#message);
  }
}

/** Begins a statement of ours; undefined where there are no subscribers. */
export function traceStatement(text: string): StatementTrace | undefined {
  return statementChannel.hasSubscribers ? new StatementTrace(text, true) : undefined;
}

/** Tells of a statement of Sequelize's, whose text may hold values. */
export async function traceQuery<T>(text: string, work: () => Promise<T>): Promise<T> {
  const trace = new StatementTrace(text, false);
  try {
    const result = await work();
    trace.end(null);
    return result;
  } catch (error) {
    trace.end(error);
    throw error;
  }
}
