/** Medians and spreads of rounds. */

/** The middle of some figures, and how far they spread. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** The median is the mean of the two in the middle where the number of figures is even, and NaN where there are none. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = [...figures].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const middle = sorted.slice(Math.ceil(half) - 1, Math.floor(half) + 1);
  const median = middle.reduce((sum, figure) => sum + figure, 0) / middle.length;
  return { median, lowest: sorted[0] ?? Number.NaN, highest: sorted.at(-1) ?? Number.NaN };
}

/** The median alone. */
export function medianOf(figures: readonly number[]): number {
  return spreadOf(figures).median;
}
