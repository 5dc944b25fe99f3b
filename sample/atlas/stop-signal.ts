/** Signals that end the process, such as Ctrl-C, as one `AbortSignal` for the start. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const DEADLINE = 20_000;

/** Listens until it is disposed. Signals after the first one change nothing. */
export class StopSignal implements Disposable {
  readonly #controller = new AbortController();
  readonly #abort = (): void => {
    this.#controller.abort();
    setTimeout(() => process.exit(1), DEADLINE).unref();
  };

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const name of SIGNALS) process.removeListener(name, this.#abort);
  }
}
