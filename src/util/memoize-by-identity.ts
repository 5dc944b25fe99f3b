/** A memo for what is made of an object, alone or together with another one. */

/** The same for the same pair; kept as long as both are. */
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
