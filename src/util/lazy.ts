/** Values that are made at the first look. */

/** Gives what is made at the first call; a maker that throws is called again. */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
