/** Values that are made once: at the first call, for each text, or for each object. */

/** Memoizes the value made at the first call; a maker that throws is called again. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

interface Known<K, T> {
  get(key: K): T | undefined;
  set(key: K, value: T): unknown;
}

/** The value that a map has for a key; made and kept where it has none. */
export function keptIn<K, T>(known: Known<K, T>, key: K, make: () => T): T {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    known.set(key, value);
  }
  return value;
}

/** Items by a value that they have in common, in their order. */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): ReadonlyMap<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) keptIn(groups, keyOf(item), () => []).push(item);
  return groups;
}

const MAX_VALUES = 500;

/** A memo by text. Clients choose some of the texts, so their number is limited. */
export class BoundedCache<T> {
  readonly #values = new Map<string, T>();

  get(key: string, make: () => T): T {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= MAX_VALUES) this.#values.clear();
    const value = make();
    this.#values.set(key, value);
    return value;
  }
}

/** Memoizes a value made of an object, as long as the object is there. That of the usual object is made at once, and found without a search. */
export function perObject<K extends object, T extends object>(usual: K, make: (one: K) => T): (one: K) => T {
  const first = make(usual);
  const others = new WeakMap<K, T>();
  return (one) => {
    if (one === usual) return first;
    const known = others.get(one) ?? make(one);
    others.set(one, known);
    return known;
  };
}

/** Memoizes a value made of an object, alone or together with another one, as long as both are there. */
export function perPair<A extends object, B extends object, T extends object | null>(
  make: (one: A, other: B | null) => T,
): (one: A, other?: B | null) => T {
  const alone = new WeakMap<A, T>();
  const pairs = new WeakMap<B, WeakMap<A, T>>();
  return (one, other = null) => {
    let known = other === null ? alone : pairs.get(other);
    if (known === undefined) {
      known = new WeakMap<A, T>();
      pairs.set(other as B, known);
    }
    let value = known.get(one);
    if (value === undefined) {
      value = make(one, other);
      known.set(one, value);
    }
    return value;
  };
}
