/** Work on many items at once, and on fewer where that is refused. */

/** Works on all items at once, and where that is not done, on halves of them, down to single ones. */
export async function inHalves<T>(
  items: readonly T[],
  /** False where nothing was done. */
  together: (items: readonly T[]) => Promise<boolean>,
  alone: (item: T) => Promise<void>,
  /** False where halves could not be worked on at once either. */
  isDivisible: () => boolean,
): Promise<void> {
  const [first] = items;
  if (first === undefined || (items.length > 1 && (await together(items)))) return;
  if (items.length === 1) return alone(first);
  const size = isDivisible() ? Math.ceil(items.length / 2) : 1;
  for (let from = 0; from < items.length; from += size)
    await inHalves(items.slice(from, from + size), together, alone, isDivisible);
}
