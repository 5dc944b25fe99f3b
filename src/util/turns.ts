/** Work with a limit: so much runs at once, and the rest waits for its turn. */

interface TurnOptions {
  /** Work that runs at once at most. */
  readonly most: number;
  /** Work that waits at most. */
  readonly waiting: number;
  /** Milliseconds that work waits at most; 0 is no limit. */
  readonly patience: number;
  /** Makes the error of work that never runs. */
  readonly refusal: () => Error;
}

/** The turns of one kind of work. */
export class Turns {
  readonly #options: TurnOptions;
  #running = 0;
  /** Each begins one. The oldest is the first. */
  readonly #waiting = new Set<() => void>();

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** Runs work, as soon as it may. @throws the refusal where too much waits, or the turn has not come in time */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#options.most) this.#running += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      // The next one takes its place.
      if (next) next();
      else this.#running -= 1;
    }
  }

  #turn(): Promise<void> {
    const { waiting, patience, refusal } = this.#options;
    if (this.#waiting.size >= waiting) throw refusal();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        this.#waiting.delete(begin);
        clearTimeout(timer);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.delete(begin);
        reject(refusal());
      };
      const timer = patience > 0 ? setTimeout(giveUp, patience) : undefined;
      this.#waiting.add(begin);
    });
  }
}
