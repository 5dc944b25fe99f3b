/** Values by text, made once. Clients choose some of the texts, so their number is limited. */

const MAX_VALUES = 500;

/** A memo of what a function gives. */
export class BoundedCache<T> {
  readonly #values = new Map<string, T>();

  /** The value for the key; when it is not there, it is made. */
  get(key: string, make: () => T): T {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= MAX_VALUES) this.#values.clear();
    const value = make();
    this.#values.set(key, value);
    return value;
  }
}
