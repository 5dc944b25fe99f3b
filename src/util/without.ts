/** Objects with fewer members. */

/** The same members, but for those with these names. */
export function without<T>(
  values: Readonly<Record<string, T>>,
  names: readonly string[],
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
