/** Number of statements that go together. It grows by addition and shrinks by division, like TCP's window. */

/** Growth after each success. */
const GROWTH = 1 / 16;

/** A number between one and a maximum, which it begins with. */
export class GrowingWindow {
  readonly #maximum: number;
  #size: number;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#size = maximum;
  }

  /** Rounded down. */
  get size(): number {
    return Math.floor(this.#size);
  }

  grow(): void {
    this.#size = Math.min(this.#maximum, this.#size + GROWTH);
  }

  shrink(): void {
    this.#size = Math.max(1, this.#size / 2);
  }
}
